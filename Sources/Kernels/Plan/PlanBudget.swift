/// Counts what a plan in the making holds in memory, and says when that is too much: then nothing more is
/// allocated for it, and it comes to nothing. Used by one thread, for one plan.
package final class PlanBudget {
  /// The most bytes that the plan may hold.
  let limit: Int
  /// What it holds so far.
  private(set) var spent = 0

  init(limit: Int = .max) {
    self.limit = limit
  }

  /// Whether the plan holds too much.
  var isExceeded: Bool { self.spent > self.limit }

  /// Something was allocated.
  func spend(_ byteCount: Int) {
    self.spent += byteCount
  }

  /// Samples a field.
  ///
  /// - Returns: `nil` if the plan comes to nothing anyway.
  func plan(_ field: ScalarField, size: FrameSize) -> PlannedField? {
    guard !self.isExceeded else { return nil }
    let planned = PlannedField(field, size: size)
    self.spend(planned.byteCost)
    return planned
  }

  /// Fields that were sampled are not needed after all.
  func giveBack(_ fields: [PlannedField]) {
    self.spent -= fields.reduce(0) { $0 + $1.byteCost }
  }
}
