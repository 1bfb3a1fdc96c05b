/// The times at which a participant sends.
struct SendSchedule: Sendable {
  var start: ContinuousClock.Instant
  var end: ContinuousClock.Instant
  /// The delay of this participant after the first one, as a fraction of an interval, 0 ..< 1.
  var phase: Double
}
