public import SidelightKernels

/// What a client asks of a session.
public struct SessionOptions: Sendable, Hashable {
  /// Who goes when frames come faster than they are filtered.
  public enum DropPolicy: Sendable, Hashable {
    /// The oldest that waits, here and at the server. For live video.
    case newestWins
    /// The newest, at the server; here `send` waits.
    case keepOldest
    /// None; `send` waits. For offline jobs.
    case neverDrop
  }

  /// - `pipeline` (default: empty, every frame passes through): the first pipeline.
  public var pipeline: Pipeline
  /// - `dropPolicy` (default: ``DropPolicy/newestWins``): who goes when frames come too fast.
  public var dropPolicy: DropPolicy
  /// - `label` (default: none): what a person would call the track; at most 128 bytes.
  public var label: String
  /// - `mailboxDepth` (count, optional, range: 1-64, default: 1): frames that may wait at the server.
  public var mailboxDepth: Int?
  /// - `budget` (duration, optional, default: any): the time from a frame's receipt at the server in
  ///   which it is of use, in whole microseconds; later it is dropped. Frames may state their own. Has no
  ///   effect under ``DropPolicy/neverDrop``.
  public var budget: Duration?
  /// - `maxFPS` (frames a second, optional, range: 0.01-1000, default: no limit): beyond it the server
  ///   drops frames, evenly. Refused under ``DropPolicy/neverDrop``.
  public var maxFPS: Double?
  /// - `outputWindow` (count, optional, range: 1-64, default: none): pictures that may be on their way
  ///   back; then the newest waits at the server and displaces. A picture is acknowledged when its
  ///   outcome is taken. None: the transport's flow control rules.
  public var outputWindow: Int?
  /// - `failurePolicy` (default: pass through): what happens to frames whose stage failed.
  public var failurePolicy: FailurePolicy
  /// - `allowDegraded` (default: false): whether cheaper variants of the pipeline may stand in before
  ///   frames are dropped; see ``MadeFrame/Disposition/degraded``.
  public var allowDegraded: Bool
  /// - `analysisOnly` (default: false): whether only analyses are of interest. Frames then pass
  ///   through, and no pixels come back.
  public var analysisOnly: Bool
  /// - `output` (default: as the input): the shape in which pictures come back.
  public var output: OutputOptions
  /// - `allowUnmodified` (default: true): whether a frame that no stage changes may come back without
  ///   its pixels; its outcome then has the picture that was sent.
  public var allowUnmodified: Bool
  /// - `statsInterval` (duration, optional, range: 100 ms-1 h, default: only at the end): how often the
  ///   server tells its counts.
  public var statsInterval: Duration?
  /// - `sharedMemory` (optional, default: slots of 8 MiB): the shared memory that pixels travel in when
  ///   the server is on this host and offers it. None: they always travel inline.
  public var sharedMemory: SharedMemoryOptions?
  /// - `reconnect` (optional, default: none): how the session survives the loss of its connection.
  ///   None: it ends.
  public var reconnect: ReconnectPolicy?

  /// States what is asked; the defaults are for live video. The server refuses a value that is out of
  /// range.
  public init(
    pipeline: Pipeline = [], dropPolicy: DropPolicy = .newestWins, label: String = "",
    mailboxDepth: Int? = nil, budget: Duration? = nil, maxFPS: Double? = nil,
    outputWindow: Int? = nil, failurePolicy: FailurePolicy = .passThrough,
    allowDegraded: Bool = false, analysisOnly: Bool = false, allowUnmodified: Bool = true,
    output: OutputOptions = OutputOptions(), statsInterval: Duration? = nil,
    sharedMemory: SharedMemoryOptions? = SharedMemoryOptions(),
    reconnect: ReconnectPolicy? = nil
  ) {
    self.pipeline = pipeline
    self.dropPolicy = dropPolicy
    self.label = label
    self.mailboxDepth = mailboxDepth
    self.budget = budget
    self.maxFPS = maxFPS
    self.outputWindow = outputWindow
    self.failurePolicy = failurePolicy
    self.allowDegraded = allowDegraded
    self.analysisOnly = analysisOnly
    self.output = output
    self.allowUnmodified = allowUnmodified
    self.statsInterval = statsInterval
    self.sharedMemory = sharedMemory
    self.reconnect = reconnect
  }
}
