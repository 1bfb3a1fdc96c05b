import SidelightWire

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

  /// Counts the outcome of a frame.
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
