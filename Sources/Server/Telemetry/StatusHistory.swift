import Synchronization

/// What a server did in each of the last seconds.
final class StatusHistory: Sendable {
  private struct State {
    var seconds: [ServerStatus.Second] = []
    var delivered: UInt64 = 0
    var dropped: UInt64 = 0
    var sessions: [UInt64: SessionHistory] = [:]
  }

  private static let limit = 120

  private let state = Mutex(State())

  /// The oldest first.
  var seconds: [ServerStatus.Second] { self.state.withLock { $0.seconds } }

  /// What is known of a session's last minute.
  func history(of session: SessionHandle) -> SessionHistory {
    self.state.withLock { $0.sessions[session.number] } ?? SessionHistory()
  }

  /// A second is over.
  ///
  /// - Parameters:
  ///   - frames: The server's counts.
  ///   - durations: What the frames of this second took.
  ///   - load: The work that arrived, as a part of what the threads can do.
  ///   - sessions: Those that stand; of others nothing is kept.
  func record(
    _ frames: FrameCounts, _ durations: DurationHistogram, load: Double, sessions: [SessionHandle]
  ) {
    self.state.withLock { state in
      if state.seconds.count == Self.limit { state.seconds.removeFirst() }
      state.seconds.append(
        ServerStatus.Second(
          made: frames.delivered - min(frames.delivered, state.delivered),
          dropped: frames.allDropped - min(frames.allDropped, state.dropped),
          median: durations.percentile(50).map { $0 / .milliseconds(1) },
          p99: durations.percentile(99).map { $0 / .milliseconds(1) }, load: load))
      (state.delivered, state.dropped) = (frames.delivered, frames.allDropped)
      var pasts: [UInt64: SessionHistory] = [:]
      for session in sessions {
        var past = state.sessions[session.number] ?? SessionHistory()
        past.record(session.outcomes.counts, latency: session.lastTotal / .milliseconds(1))
        pasts[session.number] = past
      }
      state.sessions = pasts
    }
  }
}

/// What a session did in the last seconds, for the status page.
struct SessionHistory: Sendable {
  private static let limit = 60

  /// Frames that were made in the last second.
  private(set) var delivered: UInt64 = 0
  /// Frames that were dropped in the last second.
  private(set) var dropped: UInt64 = 0
  /// At the end of each second, in milliseconds, the oldest first; `nil` where no frame was made.
  private(set) var latencies: [Double?] = []
  private var totals: (delivered: UInt64, dropped: UInt64) = (0, 0)

  /// A second is over.
  ///
  /// - Parameters:
  ///   - frames: All of the session's frames.
  ///   - latency: That of the last one, in milliseconds.
  mutating func record(_ frames: FrameCounts, latency: Double) {
    let totals = (delivered: frames.delivered, dropped: frames.allDropped)
    self.delivered = totals.delivered - self.totals.delivered
    self.dropped = totals.dropped - self.totals.dropped
    self.totals = totals
    if self.latencies.count == Self.limit { self.latencies.removeFirst() }
    self.latencies.append(self.delivered > 0 ? latency : nil)
  }
}

extension FrameCounts {
  /// Frames that came back, in whatever way.
  var delivered: UInt64 { self.filtered + self.passedThrough + self.degraded }

  /// Frames that did not.
  var allDropped: UInt64 { self.dropped.values.reduce(0, +) }
}

/// How often durations of about a length occurred, in bounded memory: each octave of nanoseconds is cut
/// into 32 equal parts, so that what is read back is off by 1.6 % at most.
package struct DurationHistogram: Sendable {
  private static let partBits = 5
  private static let partCount = 1 << partBits

  /// For each power of two from 1 ns on, its parts; what is shorter than 32 ns is counted exactly.
  private var counts = [Int](repeating: 0, count: 64 * partCount)
  /// How many durations were added.
  package private(set) var count = 0

  package init() {}

  /// Counts a duration; one below zero as zero.
  package mutating func add(_ duration: Duration) {
    let nanoseconds = UInt64(min(max(duration / .nanoseconds(1), 0), 0x1p62))
    self.counts[Self.index(nanoseconds)] += 1
    self.count += 1
  }

  /// The duration that so many hundredths of all do not exceed; `nil` if there are none.
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

  /// Exact below 32 ns; above, the octave and the five bits that follow the leading one.
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
