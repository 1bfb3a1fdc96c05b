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
