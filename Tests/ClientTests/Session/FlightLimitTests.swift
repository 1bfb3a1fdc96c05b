import SidelightClient
import Testing

/// The frames in flight of a session whose path is short, long or congested.
@Suite struct FlightLimitTests {
  /// A path that carries only one frame: the others wait for the frames in flight before them.
  ///
  /// - Parameters:
  ///   - alone: The time of a frame that doesn't wait for others.
  ///   - each: The time by which a frame in flight delays the frames behind it.
  /// - Returns: The limit after some hundred frames.
  static func limit(alone: Duration, each: Duration, capacity: Int = 4) -> Int {
    var limit = FlightLimit(capacity: capacity)
    limit.record(alone, at: .zero)
    for frame in 1 ... 300 {
      limit.record(alone + each * (limit.frames - 1), at: .milliseconds(33) * frame)
    }
    return limit.frames
  }

  @Test func `it begins with what the server grants, and is at least one`() {
    #expect(FlightLimit(capacity: 4).frames == 4)
    #expect(FlightLimit(capacity: 0).frames == 1)
  }

  @Test func `a path on which frames do not wait for each other carries all`() {
    #expect(Self.limit(alone: .milliseconds(2), each: .zero) == 4)
    #expect(Self.limit(alone: .milliseconds(150), each: .zero, capacity: 16) == 16)
  }

  @Test func `a path on which every frame delays the next carries one or two`() {
    #expect((1 ... 2).contains(Self.limit(alone: .milliseconds(15), each: .milliseconds(15))))
    #expect((1 ... 2).contains(Self.limit(alone: .milliseconds(8), each: .milliseconds(40))))
  }

  @Test func `waits of less than five milliseconds do not count`() {
    #expect(Self.limit(alone: .microseconds(300), each: .milliseconds(1.4)) == 4)
  }

  @Test func `the limit rises again when the path is free`() {
    var limit = FlightLimit(capacity: 4)
    limit.record(.milliseconds(3), at: .zero)
    for frame in 1 ... 30 { limit.record(.milliseconds(60), at: .milliseconds(33) * frame) }
    #expect(limit.frames == 1)
    for frame in 31 ... 60 { limit.record(.milliseconds(3), at: .milliseconds(33) * frame) }
    #expect(limit.frames == 4)
  }

  @Test func `a path that has become longer is not taken for a congested one for ever`() {
    var limit = FlightLimit(capacity: 4)
    limit.record(.milliseconds(3), at: .zero)
    for frame in 1 ... 1000 { limit.record(.milliseconds(60), at: .milliseconds(33) * frame) }
    #expect(limit.frames == 4)
  }
}
