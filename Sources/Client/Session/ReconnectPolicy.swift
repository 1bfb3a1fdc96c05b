/// The policy of a session that loses its connection.
///
/// The session reopens using the server's last resume token, which restores selection, parameters,
/// activation, pause and an operator's override. Frames are never sent again. Frames in flight are
/// dropped as `DropReason.connectionLost`; frames that are sent while disconnected are dropped as
/// `DropReason.disconnected` (if the session may not drop frames, `send` waits instead).
public struct ReconnectPolicy: Sendable, Hashable {
  /// The picture that replaces frames while the session is disconnected.
  ///
  /// Protection takes precedence over this choice, and can't be disabled. While the session's
  /// pipeline protects, neither originals nor a last frame in which the hidden part is visible are
  /// shown. A pipeline protects if an active stage, including stages of nested pipelines, is
  /// `faceBlur`, `facePixellate`, or `virtualBackground` or `backgroundBlur` without
  /// `protect: false`. It counts from the call that requests it until a pipeline without protection
  /// is active.
  public enum FailOpen: String, Sendable, Hashable, CaseIterable {
    /// The original frames, **unfiltered**. While an operator's override is active or the pipeline
    /// protects, frames don't have a picture: a lost connection bypasses neither.
    case original
    /// The last filtered frame. While the pipeline protects, the last one that it filtered.
    case lastFrame
    /// No picture.
    case nothing
  }

  /// - `failOpen` (default: ``FailOpen/original``): the picture that replaces frames while the
  ///   session is disconnected.
  public var failOpen: FailOpen
  /// - `initialDelay` (duration, default: 100 ms): the maximum wait before the first attempt. The
  ///   wait is random between zero and the maximum, which doubles with every attempt. The sessions
  ///   of a failed server therefore do not reconnect at the same moment.
  public var initialDelay: Duration
  /// - `maxDelay` (duration, default: 5 s): the upper bound of the longest wait. A connection that
  ///   is open for as long ends the series of attempts.
  public var maxDelay: Duration
  /// - `giveUpAfter` (duration, optional, default: 60 s): the time after a loss at which attempts
  ///   stop, and the session ends with the last attempt's error. `nil` disables the limit.
  public var giveUpAfter: Duration?
  /// - `maxAttempts` (count, optional, default: no limit): the number of attempts after which the
  ///   session ends.
  public var maxAttempts: Int?
  /// - `openTimeout` (duration, default: 5 s): the time limit of an attempt.
  public var openTimeout: Duration
  /// - `silenceLimit` (duration, default: 3 s): the time without an answer to a ping, or any other
  ///   data from the server, after which the connection counts as lost.
  public var silenceLimit: Duration
  /// - `stallLimit` (duration, optional, default: 1 s): the same time while frames are in flight, for
  ///   sessions that may drop frames. It is longer while outcomes usually take long, and doubles up
  ///   to ``silenceLimit`` when connections are lost this way soon after they open. `nil` disables
  ///   the limit.
  ///
  ///   A network that is away for some seconds leaves TCP waiting for up to as long again. While the
  ///   server is silent, the first ten attempts therefore follow each other at once, with little more
  ///   time than the fastest opening took.
  public var stallLimit: Duration?

  /// Creates a policy. The defaults are for live video.
  public init(
    failOpen: FailOpen = .original, initialDelay: Duration = .milliseconds(100),
    maxDelay: Duration = .seconds(5), giveUpAfter: Duration? = .seconds(60),
    maxAttempts: Int? = nil, openTimeout: Duration = .seconds(5),
    silenceLimit: Duration = .seconds(3), stallLimit: Duration? = .seconds(1)
  ) {
    self.failOpen = failOpen
    self.initialDelay = initialDelay
    self.maxDelay = maxDelay
    self.giveUpAfter = giveUpAfter
    self.maxAttempts = maxAttempts
    self.openTimeout = openTimeout
    self.silenceLimit = silenceLimit
    self.stallLimit = stallLimit
  }
}
