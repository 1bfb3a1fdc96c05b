import SidelightKernels
import SidelightWire

extension Sidelight_V1_Open {
  init(_ options: SessionOptions) {
    self.init()
    self.pipeline = Sidelight_V1_Pipeline(options.pipeline)
    self.label = options.label
    self.allowUnmodified = true
    if options.dropsFailedFrames { self.failurePolicy = .drop }
    self.dropPolicy =
      switch options.dropPolicy {
      case .newestWins: .newestWins
      case .keepOldest: .keepOldest
      case .neverDrop: .neverDrop
      }
  }
}

extension MadeFrame {
  init(_ message: Sidelight_V1_FilteredFrame, picture: Frame, roundTrip: Duration) {
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

extension MadeFrame.Disposition {
  init(_ disposition: Sidelight_V1_Disposition) {
    switch disposition {
    case .degraded: self = .degraded
    case .passedThrough: self = .passedThrough
    case .filtered, .unspecified, .UNRECOGNIZED: self = .filtered
    }
  }
}

extension DroppedFrame {
  init(_ message: Sidelight_V1_Dropped, sequence: UInt64) {
    self.init(
      sequence: sequence, reason: Reason(message.reason),
      diagnostic: message.hasDiagnostic ? message.diagnostic.message : nil)
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

extension SessionCounts {
  init(_ stats: Sidelight_V1_Stats) {
    self.init(
      received: stats.received, filtered: stats.filtered, passedThrough: stats.passedThrough,
      degraded: stats.degraded,
      dropped: Dictionary(
        stats.dropped.map { (DroppedFrame.Reason($0.reason), $0.count) }, uniquingKeysWith: +))
  }
}
