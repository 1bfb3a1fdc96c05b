public import SidelightWire

/// A dropped frame.
public struct DroppedFrame: Sendable {
  /// The reason for a drop.
  public typealias Reason = DropReason
  /// The stage of processing at which a frame was dropped.
  public typealias Stage = DropStage

  /// The frame's number.
  public var sequence: UInt64
  /// The reason.
  public var reason: Reason
  /// The stage of processing at which it was dropped.
  public var stage = Stage.client
  /// The time by which it exceeded its budget; where a run of frames was dropped at once, the
  /// lateness of the last. Zero if lateness was not the reason.
  public var lateness = Duration.zero
  /// A description of the error, for `invalidFrame` and `stageFailed`.
  public var diagnostic: String?
  /// The picture to show instead, if any, for `disconnected` and `connectionLost`, as
  /// ``ReconnectPolicy/failOpen`` says. If the pipeline hides faces or the background, the picture
  /// never shows them.
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
