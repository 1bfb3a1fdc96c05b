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
