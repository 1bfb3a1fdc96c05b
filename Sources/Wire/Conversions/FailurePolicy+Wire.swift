package import SidelightKernels

extension FailurePolicy {
  /// The policy that a message states; `nil` if it states none.
  ///
  /// - Throws: ``FieldFault`` for a value that this build does not know.
  package static func stated(
    by wire: Sidelight_V1_FailurePolicy
  ) throws(FieldFault) -> FailurePolicy? {
    switch wire {
    case .unspecified: nil
    case .passThrough: .passThrough
    case .drop: .drop
    case .blur: .blur
    case .UNRECOGNIZED(let value):
      throw FieldFault(field: "failure_policy", reason: "\(value) is no failure policy")
    }
  }
}

extension Sidelight_V1_FailurePolicy {
  package init(_ policy: FailurePolicy) {
    self =
      switch policy {
      case .passThrough: .passThrough
      case .drop: .drop
      case .blur: .blur
      }
  }
}
