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
