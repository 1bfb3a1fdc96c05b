public import SidelightWire

/// The outcome of a frame. An accepted frame has exactly one outcome, in order, even if the
/// connection is lost.
public enum FrameOutcome: Sendable {
  /// The frame came back.
  case filtered(FilteredFrame)
  /// The frame was dropped.
  case dropped(DroppedFrame)

  /// The frame's number, as ``FilterSession/send(_:)`` returned it.
  public var sequence: UInt64 {
    switch self {
    case .filtered(let frame): frame.sequence
    case .dropped(let frame): frame.sequence
    }
  }

  /// The picture to show now, if any: the one that came back, or the fallback.
  public var picture: VideoPicture? {
    switch self {
    case .filtered(let frame): frame.picture
    case .dropped(let frame): frame.fallback?.picture
    }
  }
}

/// A frame that came back.
public struct FilteredFrame: Sendable {
  /// The kind of result of a frame that comes back.
  public typealias Disposition = FrameDisposition

  /// The frame's number.
  public var sequence: UInt64
  /// The picture.
  public var picture: VideoPicture
  /// The kind of result.
  public var disposition: Disposition
  /// The revision of the pipeline that filtered it.
  public var revision: UInt64
  /// The caller's ``VideoFrame/captureTimeNanoseconds``.
  public var captureTimeNanoseconds: Int64
  /// The caller's ``VideoFrame/rtpTimestamp``.
  public var rtpTimestamp: UInt32
  /// The caller's ``VideoFrame/tags``.
  public var tags: [String: String]
  /// The time from receipt to the start of processing, on the server.
  public var queueTime: Duration
  /// The time of processing, on the server.
  public var processTime: Duration
  /// The time from the call of `send` to the arrival of the outcome, on the client.
  public var roundTripTime: Duration
  /// The reason why a frame passed through although its pipeline is not empty.
  public var failure: String?
}

/// A picture to show instead of one that could not be filtered while disconnected.
public struct FallbackPicture: Sendable {
  /// The origin of a fallback picture.
  public enum Kind: String, Sendable, Hashable {
    /// The frame as it was sent: **not filtered**.
    case original
    /// The last frame that came back.
    case lastFrame
  }

  /// The picture's origin.
  public var kind: Kind
  /// The picture.
  public var picture: VideoPicture
}

extension FilteredFrame {
  init(_ message: Sidelight_V1_FilteredFrame, picture: VideoPicture, roundTrip: Duration) {
    self.init(
      sequence: message.sequence, picture: picture,
      disposition: Disposition(message.disposition),
      revision: message.revision, captureTimeNanoseconds: message.captureTimeNs,
      rtpTimestamp: message.rtpTimestamp, tags: message.tags,
      queueTime: .microseconds(message.timing.queueUs),
      processTime: .microseconds(message.timing.processUs), roundTripTime: roundTrip,
      failure: message.hasFailure ? message.failure.message : nil)
  }
}

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
