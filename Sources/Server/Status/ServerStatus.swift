import Synchronization

/// The current state of a server, for the admin endpoint's page.
public struct ServerStatus: Sendable, Hashable, Codable {
  /// The current state of a session.
  public struct SessionStatus: Sendable, Hashable, Codable {
    /// The session's name in logs and traces.
    public var id: String
    /// The client's name for it.
    public var label: String
    /// The participant named by the caller, or empty.
    public var participant: String
    /// The caller's address.
    public var peer: String
    /// `running`, `paused` or `overridden`.
    public var state: String
    /// The active pipeline as text.
    public var pipeline: String
    /// The size and format of the last frame, such as `1280x720 i420`, or empty before the first
    /// frame.
    public var picture: String
    /// The time since it was opened, in seconds.
    public var age: Double
    /// The time from the last frame's arrival to its writing, in milliseconds.
    public var latency: Double
    /// The number of frames sent back in the last second.
    public var delivered: UInt64
    /// The number of frames dropped in the last second.
    public var dropped: UInt64
    /// The latency at the end of each second of the last minute, the oldest first; `nil` for
    /// seconds without frames.
    public var latencies: [Double?]
    /// The counts of its frames.
    public var frames: Frames
  }

  /// Counts of frames.
  public struct Frames: Sendable, Hashable, Codable {
    /// The number of frames received.
    public var received: UInt64
    /// The number of frames filtered in full.
    public var filtered: UInt64
    /// The number of frames returned unchanged.
    public var passedThrough: UInt64
    /// The number of frames filtered by a cheaper variant of the pipeline.
    public var degraded: UInt64
    /// The number of dropped frames, by reason.
    public var dropped: [String: UInt64]
  }

  /// One second of the server's history.
  public struct Second: Sendable, Hashable, Codable {
    /// The number of frames sent back.
    public var delivered: UInt64
    /// The number of dropped frames.
    public var dropped: UInt64
    /// The median time from arrival to writing, in milliseconds, or `nil` for seconds without
    /// frames.
    public var median: Double?
    /// The 99th percentile of that time, in milliseconds.
    public var p99: Double?
    /// The work that arrived, relative to the capacity of the compute threads.
    public var load: Double
  }

  /// The server's version.
  public var version: String
  /// `starting`, `serving` or `draining`.
  public var phase: ServerPhase
  /// The time since the server was created, in seconds.
  public var uptime: Double
  /// The work that arrives, relative to the capacity of the compute threads.
  public var load: Double
  /// The threads that filter.
  public var computeThreads: Int
  /// The bytes of frame buffers in use.
  public var poolBytesInUse: Int
  /// The bytes of idle frame buffers.
  public var poolBytesIdle: Int
  /// The counts of the frames of all sessions, including closed ones.
  public var frames: Frames
  /// The last two minutes, the oldest second first.
  public var history: [Second]
  /// The open sessions, the oldest first.
  public var sessions: [SessionStatus]
}

/// The phase of a server's life.
public enum ServerPhase: String, Sendable, Hashable, Codable {
  /// The server does not listen yet. Followed by ``serving`` or ``draining``.
  case starting
  /// The server accepts sessions. Followed by ``draining``.
  case serving
  /// The server refuses new sessions and ends the open ones. The last phase.
  case draining
}

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
package struct SessionHistory: Sendable {
  private static let limit = 60

  /// The number of frames sent back in the last second.
  package private(set) var delivered: UInt64 = 0
  /// The number of frames dropped in the last second.
  package private(set) var dropped: UInt64 = 0
  /// The latency at the end of each second, in milliseconds, the oldest first; `nil` for
  /// seconds without frames.
  package private(set) var latencies: [Double?] = []
  private var totals: (delivered: UInt64, dropped: UInt64) = (0, 0)

  /// Creates a history without seconds.
  package init() {}

  /// Records a second.
  ///
  /// - Parameters:
  ///   - frames: The counts of the session's frames since it was opened.
  ///   - latency: The latency of the last frame, in milliseconds.
  package mutating func record(_ frames: FrameCounts, latency: Double) {
    let totals = (delivered: frames.delivered, dropped: frames.allDropped)
    // A frame that could not be encoded, or was late, is withdrawn from the counts.
    self.delivered = totals.delivered - min(totals.delivered, self.totals.delivered)
    self.dropped = totals.dropped - min(totals.dropped, self.totals.dropped)
    self.totals = totals
    if self.latencies.count == Self.limit { self.latencies.removeFirst() }
    self.latencies.append(self.delivered > 0 ? latency : nil)
  }
}
