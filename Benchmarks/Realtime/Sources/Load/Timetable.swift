/// When a participant sends.
struct Timetable: Sendable {
  var start: ContinuousClock.Instant
  var end: ContinuousClock.Instant
  /// The part of an interval by which this participant is later than the first, 0 ..< 1.
  var phase: Double
}
