/// The policy of a session that loses its connection.
///
/// The session opens again with the last resume token of the server, which restores selection,
/// parameters, activation, pause and an operator's override. Frames are never sent again. Frames in
/// flight are dropped as `DropReason.connectionLost`; frames that are sent while there
/// is no connection are dropped as `DropReason.disconnected` (if the session may not
/// drop frames, `send` waits instead).
public struct ReconnectPolicy: Sendable, Hashable {
  /// The picture that replaces frames while there is no connection.
  ///
  /// Protection goes before this choice, and there is no option against it. While the session's
  /// pipeline protects, no original is shown, and no last frame in which the hidden part is
  /// visible. A pipeline protects if an active stage, also of a nested pipeline, is `faceBlur`,
  /// `facePixellate`, or `virtualBackground` or `backgroundBlur` without `protect: false`. It
  /// counts from the call that requests it until a pipeline without protection is in force.
  public enum FailOpen: String, Sendable, Hashable, CaseIterable {
    /// The original frames, **unfiltered**; nothing while an operator's override is in force or the
    /// pipeline protects, so that a lost connection bypasses neither.
    case original
    /// The last filtered frame. While the pipeline protects, the last one that it filtered.
    case lastFrame
    /// Nothing.
    case nothing
  }

  /// - `failOpen` (default: ``FailOpen/original``): the picture that replaces frames
  ///   while there is no connection.
  public var failOpen: FailOpen
  /// - `initialDelay` (duration, default: 100 ms): the longest wait before the first attempt. The
  ///   wait is random between zero and the longest wait, which doubles with each attempt, so that
  ///   the sessions of a failed server do not reconnect all at once.
  public var initialDelay: Duration
  /// - `maxDelay` (duration, default: 5 s): the upper bound of the longest wait. A connection that
  ///   is open for as long ends the series of attempts.
  public var maxDelay: Duration
  /// - `giveUpAfter` (duration, optional, default: 60 s): the time after a loss at which attempts
  ///   stop, and the session ends with the error of the last attempt. `nil` disables the limit.
  public var giveUpAfter: Duration?
  /// - `maxAttempts` (count, optional, default: no limit): the number of attempts after which the
  ///   session ends.
  public var maxAttempts: Int?
  /// - `openTimeout` (duration, default: 5 s): the time limit of an attempt.
  public var openTimeout: Duration
  /// - `silenceLimit` (duration, default: 10 s): the time without an answer to a ping, or any other
  ///   data from the server, after which the connection counts as lost.
  public var silenceLimit: Duration

  /// Creates a policy. The defaults are for live video.
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
