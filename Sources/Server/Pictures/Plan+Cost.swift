import GRPCCore
import SidelightKernels
import SidelightWire

extension Plan {
  /// - Throws: ``FieldFault``, RESOURCE_EXHAUSTED, if it was refused for what it would hold in memory.
  func checkCost() throws(FieldFault) {
    guard let refusal else { return }
    let limit =
      refusal.isShared
      ? "\(refusal.limit) are left of what all pipelines may hold (max_total_plan_bytes)"
      : "the limit is \(refusal.limit) (max_plan_bytes)"
    throw FieldFault(
      code: .resourceExhausted, field: "pipeline",
      reason: "would hold at least \(refusal.byteCount) bytes of images and fields for frames of "
        + "\(self.input.size), \(limit)")
  }
}
