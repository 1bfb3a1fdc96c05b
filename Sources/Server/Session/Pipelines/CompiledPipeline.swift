import GRPCCore
package import SidelightKernels
import SidelightWire

/// A pipeline compiled for pictures of one form.
final class CompiledPipeline: Sendable {
  let form: PictureForm
  let plan: Plan
  /// The form of the results.
  let delivery: OutputShape.Delivery
  /// The requested form of the results.
  let output: OutputShape
  /// Whether pictures come back unchanged, byte for byte.
  let changesNothing: Bool
  /// The expected cost of a frame.
  let cost: CostEstimate
  /// Whether custom filters are among the active filters. They may take any time.
  let isCustom: Bool
  /// A cheaper variant for sessions that are short of time, if any.
  let reduced: CompiledPipeline?

  init(
    form: PictureForm, plan: Plan, output: OutputShape, changesNothing: Bool, cost: CostEstimate,
    isCustom: Bool, reduced: CompiledPipeline? = nil
  ) {
    self.form = form
    self.plan = plan
    self.delivery = output.delivery(of: form)
    self.output = output
    self.changesNothing = changesNothing
    self.cost = cost
    self.isCustom = isCustom
    self.reduced = reduced
  }

  /// Checks that the pipeline has a plan, and that its results are within the limits.
  ///
  /// - Throws: ``FieldViolation`` if the plan was refused or the output is too large.
  func check(_ limits: FrameLimits) throws(FieldViolation) {
    try self.plan.checkCost()
    var limits = limits
    // The length of a file is known only once it is encoded; samples for outputs are not sent.
    if self.delivery.coding.isCompressed || self.output.keepsSamples { limits.maxBytes = .max }
    try limits.check(
      output: self.plan.output, field: self.delivery.shape.isAny ? "pipeline" : "output")
  }

  /// The memory used by the plan and the cheaper variant's plan, in bytes.
  var byteCost: Int { self.plan.byteCost + (self.reduced?.byteCost ?? 0) }

  /// The cheaper variant, unless it is known not to be cheaper for these pictures.
  var cheaperVariant: CompiledPipeline? {
    guard let reduced, let full = self.cost.expected, let cheaper = reduced.cost.expected else {
      return self.reduced
    }
    return cheaper < full ? reduced : nil
  }
}

extension Plan {
  /// Checks that the plan was not refused for the memory that it would hold.
  ///
  /// - Throws: ``FieldViolation`` with RESOURCE_EXHAUSTED.
  func checkCost(field: String = "pipeline") throws(FieldViolation) {
    guard let refusal else { return }
    let limit =
      refusal.isShared
      ? "\(refusal.limit) are left of what all pipelines may hold (max_total_plan_bytes)"
      : "the limit is \(refusal.limit) (max_plan_bytes)"
    throw FieldViolation(
      code: .resourceExhausted, field: field,
      reason: "would hold at least \(refusal.byteCount) bytes of images and fields for frames of "
        + "\(self.input.size), \(limit)",
      info: .outOfRange(refusal.byteCount, limit: refusal.limit))
  }
}

/// A pipeline and the revision under which it is active.
///
/// Frames keep the pipeline that was active when they arrived, so a result never mixes two without
/// a transition.
package struct ActivePipeline: Sendable {
  package var pipeline: ResolvedPipeline
  package var revision: Revision
  /// Whether an operator forced it. A frame that cannot be filtered then never comes back
  /// unfiltered.
  package var isOverride: Bool
  /// The frame's position in a transition to the pipeline, or `nil` outside of transitions.
  package var transition: TransitionMoment?

  package init(pipeline: ResolvedPipeline, revision: Revision, isOverride: Bool = false) {
    self.pipeline = pipeline
    self.revision = revision
    self.isOverride = isOverride
  }
}

/// The number of an active pipeline, and the message that requested it.
package struct Revision: Sendable, Hashable {
  /// The number, which counts up from 1 with every change.
  package var number: UInt64
  /// The message's number, or 0 for `open` and for overrides.
  package var requestID: UInt64

  package init(number: UInt64, requestID: UInt64) {
    self.number = number
    self.requestID = requestID
  }
}
