public import SidelightKernels

/// What became of a frame. Each frame that was sent has exactly one outcome, in order.
public enum FrameOutcome: Sendable {
  /// It came back.
  case made(MadeFrame)
  /// It did not.
  case dropped(DroppedFrame)

  /// The frame's number, as ``FilterSession/send(_:)`` gave it.
  public var sequence: UInt64 {
    switch self {
    case .made(let frame): frame.sequence
    case .dropped(let frame): frame.sequence
    }
  }
}

/// A frame that came back.
public struct MadeFrame: Sendable {
  /// What was done to a frame that came back.
  public enum Disposition: String, Sendable, Hashable {
    /// The pipeline made it.
    case filtered
    /// It is the input: no stage was active, or one failed.
    case passedThrough
    /// A cheaper variant of the pipeline made it.
    case degraded
  }

  /// The frame's number.
  public var sequence: UInt64
  /// The picture.
  public var picture: Frame
  /// What was done.
  public var disposition: Disposition
  /// The revision of the pipeline that made it.
  public var revision: UInt64
  /// The caller's own.
  public var captureTimeNanoseconds: Int64
  /// The caller's own.
  public var rtpTimestamp: UInt32
  /// The caller's own.
  public var tags: [String: String]
  /// From receipt to the start of the work, on the server.
  public var queueTime: Duration
  /// The work, on the server.
  public var processTime: Duration
  /// From the call of `send` to the outcome's arrival, here.
  public var roundTripTime: Duration
  /// Why a frame passed through although its pipeline is not empty.
  public var failure: String?
}

/// A frame that did not come back.
public struct DroppedFrame: Sendable, Hashable {
  /// Why a frame was not made.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// A newer frame took its place before this one was sent: the window was shut.
    case supersededBeforeSending
    /// A newer frame took its place at the server.
    case superseded
    /// The server's queue was full.
    case queueFull
    /// Its budget was spent when it arrived, or could not hold the work.
    case lateOnArrival
    /// Its budget was spent between two passes.
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

  /// The frame's number.
  public var sequence: UInt64
  /// Why.
  public var reason: Reason
  /// What was wrong, for ``Reason/invalidFrame`` and ``Reason/stageFailed``.
  public var diagnostic: String?
}
