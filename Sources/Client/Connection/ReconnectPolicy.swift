/// How a session survives the loss of its connection.
///
/// It opens anew with what the server last gave it to resume by: selection, parameters, activation,
/// pause and an operator's override are as they were. Frames are never sent again. What was in flight
/// ends as ``DroppedFrame/Reason/connectionLost``; what is given until the connection is there again
/// ends as ``DroppedFrame/Reason/disconnected`` (where nothing may be dropped, `send` waits instead).
public struct ReconnectPolicy: Sendable, Hashable {
  /// What is shown in place of frames that cannot be filtered for want of a connection.
  public enum FailOpen: String, Sendable, Hashable, CaseIterable {
    /// The frames themselves, **unfiltered**; but nothing while an operator's override is in force,
    /// which must not be got round by a lost connection.
    case original
    /// The last frame that came back.
    case lastFrame
    /// Nothing.
    case nothing
  }

  /// - `failOpen` (default: ``FailOpen/original``): what is shown meanwhile.
  public var failOpen: FailOpen
  /// - `initialDelay` (duration, default: 100 ms): the longest wait before the first attempt. The
  ///   wait is random between zero and its longest, and the longest doubles with each attempt: so
  ///   that the sessions of a server that fails do not come back all at once.
  public var initialDelay: Duration
  /// - `maxDelay` (duration, default: 5 s): what the longest wait does not exceed. A connection that
  ///   stands for as long ends the series of attempts.
  public var maxDelay: Duration
  /// - `giveUpAfter` (duration, optional, default: 60 s): the time from a loss after which no further
  ///   attempt is made, and the session ends with the last attempt's error. None: never.
  public var giveUpAfter: Duration?
  /// - `maxAttempts` (count, optional, default: no limit): likewise, the attempts.
  public var maxAttempts: Int?
  /// - `openTimeout` (duration, default: 5 s): how long an attempt may take.
  public var openTimeout: Duration
  /// - `silenceLimit` (duration, default: 10 s): how long a server may leave a ping unanswered, and say
  ///   nothing else, before the connection counts as lost.
  public var silenceLimit: Duration

  /// States how; the defaults are for live video.
  public init(
    failOpen: FailOpen = .original, initialDelay: Duration = .milliseconds(100),
    maxDelay: Duration = .seconds(5), giveUpAfter: Duration? = .seconds(60),
    maxAttempts: Int? = nil, openTimeout: Duration = .seconds(5),
    silenceLimit: Duration = .seconds(10)
  ) {
    self.failOpen = failOpen
    self.initialDelay = initialDelay
    self.maxDelay = maxDelay
    self.giveUpAfter = giveUpAfter
    self.maxAttempts = maxAttempts
    self.openTimeout = openTimeout
    self.silenceLimit = silenceLimit
  }
}
