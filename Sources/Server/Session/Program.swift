import SidelightKernels

/// What a selection comes to for frames of one geometry.
final class Program: Sendable {
  let plan: Plan
  /// What a frame takes.
  let cost: CostEstimate
  /// Whether filters of a user's own are among the active ones: they may take any time.
  let isCustom: Bool
  /// A cheaper variant that may stand in when there is no time; `nil` if there is none.
  let reduced: Program?

  init(plan: Plan, cost: CostEstimate, isCustom: Bool, reduced: Program? = nil) {
    self.plan = plan
    self.cost = cost
    self.isCustom = isCustom
    self.reduced = reduced
  }

  /// The variant, unless it is known to be no cheaper here.
  var cheaperVariant: Program? {
    guard let reduced, let own = self.cost.expected, let its = reduced.cost.expected else {
      return self.reduced
    }
    return its < own ? reduced : nil
  }
}
