/// A frame that did not come back.
public struct DroppedFrame: Sendable {
  /// Why a frame was not made.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// A newer frame took its place before this one was sent: the window was shut.
    case supersededBeforeSending
    /// It was given while there was no connection, and was not sent.
    case disconnected
    /// It was at the server when the connection was lost. Whether it was filtered is not known.
    case connectionLost
    /// A newer frame took its place at the server.
    case superseded
    /// The server's queue was full.
    case queueFull
    /// Its budget was spent when it arrived, or could not hold the work.
    case lateOnArrival
    /// Its budget was spent, or could no longer hold the work, before or between the passes.
    case lateInPipeline
    /// Its budget was spent before it was written.
    case lateOnOutput
    /// More frames were in flight than were granted.
    case noCredit
    /// The frame rate was exceeded.
    case rateLimited
    /// The session is paused.
    case paused
    /// The server could not read it.
    case invalidFrame
    /// A stage failed, and the policy is to drop.
    case stageFailed
    /// The server is shutting down.
    case draining
    /// The output waited to be written, and a newer one took its place.
    case outputSuperseded
    /// A reason that this library does not know.
    case other
  }

  /// Where a frame was when it was dropped.
  public enum Stage: String, Sendable, Hashable {
    /// On this side of the wire.
    case client
    /// At the server, on arrival.
    case arrival
    /// At the server, waiting for the lane.
    case mailbox
    /// In the pipeline.
    case pipeline
    /// At the server, waiting to be written.
    case outbox
    /// A place that this library does not know; for ``Reason/connectionLost``, anywhere.
    case unknown
  }

  /// The frame's number.
  public var sequence: UInt64
  /// Why.
  public var reason: Reason
  /// Where.
  public var stage = Stage.client
  /// How far past its budget it was; where a run of frames was dropped at once, the last of them.
  /// Zero where time was not the reason.
  public var lateness = Duration.zero
  /// What was wrong, for ``Reason/invalidFrame`` and ``Reason/stageFailed``.
  public var diagnostic: String?
  /// What to show in its place, for ``Reason/disconnected`` and ``Reason/connectionLost``, as
  /// ``ReconnectPolicy/failOpen`` says. `nil`: nothing.
  public var standIn: StandIn?
}
