import SidelightWire

/// A frame that was dropped.
public struct DroppedFrame: Sendable {
  /// The reason for a drop.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// A newer frame replaced it while it waited for credit on the client.
    case supersededBeforeSending
    /// It was passed to `send` while there was no connection, and was not sent.
    case disconnected
    /// It was at the server when the connection was lost. Whether it was filtered is not known.
    case connectionLost
    /// A newer frame replaced it at the server.
    case superseded
    /// The server's queue was full.
    case queueFull
    /// Its budget was spent when it arrived, or too short for the work.
    case lateOnArrival
    /// Its budget was spent, or too short for the remaining work, before or between the passes.
    case lateInPipeline
    /// Its budget was spent before it was written.
    case lateOnOutput
    /// More frames were in flight than the server grants.
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
    /// The output waited to be written, and a newer one replaced it.
    case outputSuperseded
    /// A reason that this library does not know.
    case other
  }

  /// The place where a frame was dropped.
  public enum Stage: String, Sendable, Hashable {
    /// On the client.
    case client
    /// At the server, on arrival.
    case arrival
    /// At the server, in the mailbox.
    case mailbox
    /// In the pipeline.
    case pipeline
    /// At the server, in the queue of outcomes.
    case outbox
    /// A place that this library does not know; for ``Reason/connectionLost``, any place.
    case unknown
  }

  /// The frame's number.
  public var sequence: UInt64
  /// The reason.
  public var reason: Reason
  /// The place.
  public var stage = Stage.client
  /// The time by which it exceeded its budget; where a run of frames was dropped at once, that of
  /// the last. Zero if lateness was not the reason.
  public var lateness = Duration.zero
  /// A description of the error, for ``Reason/invalidFrame`` and ``Reason/stageFailed``.
  public var diagnostic: String?
  /// The picture to show instead, for ``Reason/disconnected`` and ``Reason/connectionLost``, as
  /// ``ReconnectPolicy/failOpen`` says. `nil` if there is none.
  public var fallback: FallbackPicture?
}

extension DroppedFrame {
  init(_ message: Sidelight_V1_Dropped, sequence: UInt64) {
    self.init(
      sequence: sequence, reason: Reason(message.reason), stage: Stage(message.stage),
      lateness: .microseconds(message.lateUs),
      diagnostic: message.hasDiagnostic ? message.diagnostic.message : nil)
  }
}

extension DroppedFrame.Stage {
  init(_ stage: Sidelight_V1_DropStage) {
    switch stage {
    case .arrival: self = .arrival
    case .mailbox: self = .mailbox
    case .pipeline: self = .pipeline
    case .outbox: self = .outbox
    case .unspecified, .UNRECOGNIZED: self = .unknown
    }
  }
}

extension DroppedFrame.Reason {
  init(_ reason: Sidelight_V1_DropReason) {
    switch reason {
    case .superseded: self = .superseded
    case .queueFull: self = .queueFull
    case .lateOnArrival: self = .lateOnArrival
    case .lateInPipeline: self = .lateInPipeline
    case .lateOnOutput: self = .lateOnOutput
    case .noCredit: self = .noCredit
    case .rateLimited: self = .rateLimited
    case .paused: self = .paused
    case .invalidFrame: self = .invalidFrame
    case .stageFailed: self = .stageFailed
    case .draining: self = .draining
    case .outputSuperseded: self = .outputSuperseded
    case .unspecified, .UNRECOGNIZED: self = .other
    }
  }
}
