import Synchronization

/// The last two minutes of a server, second by second, for the status page.
final class StatusHistory: Sendable {
  private struct State {
    var seconds: [ServerStatus.Second] = []
    var delivered: UInt64 = 0
    var dropped: UInt64 = 0
    var sessions: [UInt64: SessionHistory] = [:]
  }

  private static let limit = 120

  private let state = Mutex(State())

  /// The seconds, the oldest first.
  var seconds: [ServerStatus.Second] { self.state.withLock { $0.seconds } }

  /// Returns the last minute of a session.
  func history(of session: SessionHandle) -> SessionHistory {
    self.state.withLock { $0.sessions[session.number] } ?? SessionHistory()
  }

  /// Records a second.
  ///
  /// - Parameters:
  ///   - frames: The counts of the server's frames since it started.
  ///   - durations: The times from arrival to outcome of the frames of this second.
  ///   - load: The work that arrived, relative to the capacity of the compute threads.
  ///   - sessions: The open sessions. Removes the history of all others.
  func record(
    _ frames: FrameCounts, _ durations: DurationHistogram, load: Double, sessions: [SessionHandle]
  ) {
    self.state.withLock { state in
      if state.seconds.count == Self.limit { state.seconds.removeFirst() }
      state.seconds.append(
        ServerStatus.Second(
          delivered: frames.delivered - min(frames.delivered, state.delivered),
          dropped: frames.allDropped - min(frames.allDropped, state.dropped),
          median: durations.percentile(50).map { $0 / .milliseconds(1) },
          p99: durations.percentile(99).map { $0 / .milliseconds(1) }, load: load))
      (state.delivered, state.dropped) = (frames.delivered, frames.allDropped)
      var histories: [UInt64: SessionHistory] = [:]
      for session in sessions {
        var history = state.sessions[session.number] ?? SessionHistory()
        history.record(session.outcomes.counts, latency: session.lastTotal / .milliseconds(1))
        histories[session.number] = history
      }
      state.sessions = histories
    }
  }
}

/// The last minute of a session, second by second, for the status page.
struct SessionHistory: Sendable {
  private static let limit = 60

  /// The number of frames sent back in the last second.
  private(set) var delivered: UInt64 = 0
  /// The number of frames dropped in the last second.
  private(set) var dropped: UInt64 = 0
  /// The latency at the end of each second, in milliseconds, the oldest first; `nil` for
  /// seconds without frames.
  private(set) var latencies: [Double?] = []
  private var totals: (delivered: UInt64, dropped: UInt64) = (0, 0)

  /// Records a second.
  ///
  /// - Parameters:
  ///   - frames: The counts of the session's frames since it was opened.
  ///   - latency: The latency of the last frame, in milliseconds.
  mutating func record(_ frames: FrameCounts, latency: Double) {
    let totals = (delivered: frames.delivered, dropped: frames.allDropped)
    self.delivered = totals.delivered - self.totals.delivered
    self.dropped = totals.dropped - self.totals.dropped
    self.totals = totals
    if self.latencies.count == Self.limit { self.latencies.removeFirst() }
    self.latencies.append(self.delivered > 0 ? latency : nil)
  }
}

/// A histogram of durations in bounded memory. It divides every octave of nanoseconds into 32 equal
/// parts, so the error of a percentile is 1.6 % at most.
package struct DurationHistogram: Sendable {
  private static let partBits = 5
  private static let partCount = 1 << partBits

  /// The parts per power of two from 1 ns on. Durations below 32 ns are counted exactly.
  private var counts = [Int](repeating: 0, count: 64 * partCount)
  /// The number of durations.
  package private(set) var count = 0

  package init() {}

  /// Adds a duration; a negative one counts as zero.
  package mutating func add(_ duration: Duration) {
    let nanoseconds = UInt64(min(max(duration / .nanoseconds(1), 0), 0x1p62))
    self.counts[Self.index(nanoseconds)] += 1
    self.count += 1
  }

  /// Returns the duration that `percent` hundredths of all durations do not exceed, if any.
  package func percentile(_ percent: Int) -> Duration? {
    guard self.count > 0 else { return nil }
    let rank = (self.count - 1) * percent / 100
    var before = 0
    for (index, count) in self.counts.enumerated() {
      before += count
      if before > rank { return .nanoseconds(Int64(Self.middle(index))) }
    }
    return nil
  }

  /// Returns the index of a duration: exact below 32 ns; above, the octave and the five bits that
  /// follow the leading one.
  private static func index(_ nanoseconds: UInt64) -> Int {
    guard nanoseconds >= UInt64(self.partCount) else { return Int(nanoseconds) }
    let shift = nanoseconds.bitWidth - 1 - nanoseconds.leadingZeroBitCount - self.partBits
    return (shift + 1) * self.partCount + Int(nanoseconds >> shift) - self.partCount
  }

  private static func middle(_ index: Int) -> UInt64 {
    let shift = index / self.partCount - 1
    guard shift >= 0 else { return UInt64(index) }
    let low = UInt64(self.partCount + index % self.partCount) << shift
    return low + (1 << shift) / 2
  }
}
