/// A requirement, and the measured result.
struct Check: Sendable {
  var name: String
  var measured: String
  var limit: String
  var holds: Bool

  init(_ name: String, measured: String, limit: String, holds: Bool) {
    self.name = name
    self.measured = measured
    self.limit = limit
    self.holds = holds
  }

  /// The requirement that every sent frame has exactly one outcome.
  static func accounting(_ outcomes: [Trial.Outcome], _ name: String) -> Check {
    let totals = outcomes.map(\.total)
    let unaccounted = totals.reduce(0) { $0 + $1.unaccounted }
    let stray = totals.reduce(0) { $0 + $1.strayOutcomes }
    return Check(
      "each frame has one outcome (\(name))",
      measured: "\(totals.reduce(0) { $0 + $1.frames }) frames, "
        + "\(unaccounted) without, \(stray) unexpected outcomes",
      limit: "none", holds: unaccounted == 0 && stray == 0)
  }
}
