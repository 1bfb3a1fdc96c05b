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
  /// The time from receipt to hand-over to the transport, on the server. Includes encoding, and the
  /// wait for acknowledgements.
  public var serverTime: Duration
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
      processTime: .microseconds(message.timing.processUs),
      serverTime: .microseconds(message.timing.totalUs), roundTripTime: roundTrip,
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

/// The outcomes of a session's frames, counted on the client. `submitted` always equals the sum of
/// the other counts, over all connections of the session.
///
/// An outcome is counted when it is decided, not when it is taken.
public struct OutcomeCounts: Sendable, Hashable {
  /// The number of frames accepted by `send`.
  public var submitted: UInt64 = 0
  /// Frames whose outcome is not known yet: they wait to be sent, or are in flight.
  public var pending: UInt64 = 0
  /// The number of frames filtered by the pipeline.
  public var filtered: UInt64 = 0
  /// The number of frames returned unchanged.
  public var passedThrough: UInt64 = 0
  /// The number of frames filtered by a cheaper variant of the pipeline.
  public var degraded: UInt64 = 0
  /// The number of frames dropped at the server or on the client, by reason.
  public var dropped: [DroppedFrame.Reason: UInt64] = [:]

  package init() {}

  /// Counts a frame that `send` accepted.
  package mutating func recordSubmission() {
    self.submitted += 1
    self.pending += 1
  }

  package mutating func record(_ result: FrameResult) {
    self.pending -= 1
    switch result {
    case .filtered(.filtered): self.filtered += 1
    case .filtered(.passedThrough): self.passedThrough += 1
    case .filtered(.degraded): self.degraded += 1
    case .dropped(let reason): self.dropped[reason, default: 0] += 1
    }
  }
}

/// The outcome of a frame without its picture.
package enum FrameResult: Sendable, Hashable {
  case filtered(FilteredFrame.Disposition)
  case dropped(DroppedFrame.Reason)
}

extension FrameResult {
  init(_ outcome: FrameOutcome) {
    switch outcome {
    case .filtered(let frame): self = .filtered(frame.disposition)
    case .dropped(let frame): self = .dropped(frame.reason)
    }
  }
}

/// The server's counts of a session. `received` is the sum of the outcomes and of the frames in
/// flight.
public struct SessionCounts: Sendable, Hashable {
  /// The number of frames received.
  public var received: UInt64
  /// The number of frames filtered by the pipeline.
  public var filtered: UInt64
  /// The number of frames returned unchanged.
  public var passedThrough: UInt64
  /// The number of frames filtered by a cheaper variant of the pipeline.
  public var degraded: UInt64
  /// The number of dropped frames, by reason.
  public var dropped: [DroppedFrame.Reason: UInt64]
  /// The number of frames without an outcome.
  public var inFlight: UInt64
  /// The number of bytes of pixels received.
  public var bytesIn: UInt64
  /// The number of bytes of pixels sent back, in all outputs.
  public var bytesOut: UInt64
  /// The counts of the named outputs.
  public var outputs: [String: SessionCounts] = [:]
}

extension SessionCounts {
  init(_ stats: Sidelight_V1_Stats) {
    self.init(
      received: stats.received, filtered: stats.filtered, passedThrough: stats.passedThrough,
      degraded: stats.degraded,
      dropped: Dictionary(
        stats.dropped.map { (DroppedFrame.Reason($0.reason), $0.count) }, uniquingKeysWith: +),
      inFlight: UInt64(stats.inFlight), bytesIn: stats.bytesIn, bytesOut: stats.bytesOut,
      outputs: Dictionary(
        stats.outputs.map { ($0.output, SessionCounts($0)) }, uniquingKeysWith: { $1 }))
  }
}
