import SidelightKernels
import SidelightWire
import Synchronization

/// What a server does at this moment, for people who look: the admin endpoint's page.
public struct ServerStatus: Sendable, Hashable, Codable {
  /// Of one session.
  public struct SessionStatus: Sendable, Hashable, Codable {
    /// The session's name in logs and traces.
    public var id: String
    /// What the client calls it.
    public var label: String
    /// The caller's address.
    public var peer: String
    /// `running`, `paused` or `overridden`.
    public var state: String
    /// The filters in force, as text.
    public var pipeline: String
    /// Such as `1280x720 i420`; empty before the first frame.
    public var picture: String
    /// How long it stands, in seconds.
    public var age: Double
    /// From the last frame's arrival to its writing, in milliseconds.
    public var latency: Double
    /// Frames that were made in the last second.
    public var made: UInt64
    /// Frames that were dropped in the last second.
    public var dropped: UInt64
    /// The latency at the end of each second of the last minute, the oldest first; `nil` where no frame
    /// was made.
    public var latencies: [Double?]
    /// Its frames.
    public var frames: Frames
  }

  /// Counts of frames.
  public struct Frames: Sendable, Hashable, Codable {
    /// Frames that arrived.
    public var received: UInt64
    /// Frames that the pipeline made.
    public var filtered: UInt64
    /// Frames that came back unchanged.
    public var passedThrough: UInt64
    /// Frames that a cheaper variant made.
    public var degraded: UInt64
    /// Frames that were not made, by reason.
    public var dropped: [String: UInt64]
  }

  /// A second of the server's past.
  public struct Second: Sendable, Hashable, Codable {
    /// Frames that were made.
    public var made: UInt64
    /// Frames that were dropped.
    public var dropped: UInt64
    /// From arrival to writing, in milliseconds: what half of the frames did not exceed; `nil` if there
    /// were none.
    public var median: Double?
    /// ... and what 99 of 100 did not.
    public var p99: Double?
    /// The work that arrived, as a part of what the threads can do.
    public var load: Double
  }

  /// The server's version.
  public var version: String
  /// `starting`, `serving` or `draining`.
  public var phase: ServerPhase
  /// How long it runs, in seconds.
  public var uptime: Double
  /// The work that arrives, as a part of what the threads can do.
  public var load: Double
  /// Threads that filter.
  public var computeThreads: Int
  /// Bytes of frame buffers in use.
  public var poolBytesInUse: Int
  /// Bytes of idle frame buffers.
  public var poolBytesIdle: Int
  /// Frames of all sessions, with those that are over.
  public var frames: Frames
  /// The last two minutes, the oldest first.
  public var history: [Second]
  /// The sessions that stand, the oldest first.
  public var sessions: [SessionStatus]
}

/// Where a server stands between start and end.
public enum ServerPhase: String, Sendable, Hashable, Codable {
  /// It does not listen yet. Goes to ``serving``, or ``draining``.
  case starting
  /// It takes sessions. Goes to ``draining``.
  case serving
  /// It takes no more sessions, and ends those that stand. The last.
  case draining
}

extension Engine {
  /// What the server does at this moment.
  func status(in phase: ServerPhase) -> ServerStatus {
    let now = self.clock.now()
    let pool = self.pool.statistics
    return ServerStatus(
      version: SidelightVersion.current, phase: phase, uptime: (now - self.started) / .seconds(1),
      load: self.scheduler.load, computeThreads: self.compute.threadCount,
      poolBytesInUse: pool.bytesInUse, poolBytesIdle: pool.bytesIdle,
      frames: ServerStatus.Frames(self.sessions.totals), history: self.history.seconds,
      sessions: self.sessions.handles.map { $0.status(at: now, self.history.history(of: $0)) })
  }

  /// A second is over: metrics and history are brought up to date.
  func recordSecond() {
    self.metrics.update(from: self)
    let durations = self.metrics.recent.withLock { recent in
      defer { recent = DurationHistogram() }
      return recent
    }
    self.history.record(
      self.sessions.totals, durations, load: self.scheduler.load, sessions: self.sessions.handles)
  }
}

extension SessionHandle {
  fileprivate func status(
    at now: Duration, _ past: SessionHistory
  ) -> ServerStatus.SessionStatus {
    let info = self.info(at: now)
    return ServerStatus.SessionStatus(
      id: self.id, label: self.label, peer: info.peer, state: "\(info.state)",
      pipeline: info.pipeline,
      picture: info.width == 0 ? "" : "\(info.width)x\(info.height) \(info.format)",
      age: (now - self.opened) / .seconds(1), latency: Double(info.lastTotalUs) / 1000,
      made: past.delivered, dropped: past.dropped, latencies: past.latencies,
      frames: ServerStatus.Frames(self.outcomes.counts))
  }
}

extension ServerStatus.Frames {
  fileprivate init(_ counts: FrameCounts) {
    self.init(
      received: counts.received, filtered: counts.filtered, passedThrough: counts.passedThrough,
      degraded: counts.degraded,
      dropped: Dictionary(
        uniqueKeysWithValues: counts.dropped.map { ($0.key.name, $0.value) }))
  }
}
