import GRPCCore
import SidelightKernels
import SidelightWire
import SwiftProtobuf

extension Sidelight_V1_Open {
  /// The options, but for pipeline and token.
  init(_ options: SessionOptions) {
    self.init()
    self.label = options.label
    self.allowUnmodified = options.allowUnmodified
    self.mailboxDepth = UInt32(clamping: options.mailboxDepth ?? 0)
    self.budgetUs = options.budget?.wireMicroseconds ?? 0
    self.maxFps = options.maxFPS ?? 0
    self.outputWindow = UInt32(clamping: options.outputWindow ?? 0)
    self.failurePolicy = Sidelight_V1_FailurePolicy(options.failurePolicy)
    self.allowDegraded = options.allowDegraded
    self.analysisOnly = options.analysisOnly
    if options.output != OutputOptions() { self.output = Sidelight_V1_OutputSpec(options.output) }
    if let interval = options.statsInterval {
      let (seconds, attoseconds) = interval.components
      self.statsInterval.seconds = seconds
      self.statsInterval.nanos = Int32(attoseconds / 1_000_000_000)
    }
    self.dropPolicy =
      switch options.dropPolicy {
      case .newestWins: .newestWins
      case .keepOldest: .keepOldest
      case .neverDrop: .neverDrop
      }
  }
}

extension MadeFrame {
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

extension SessionCounts {
  init(_ stats: Sidelight_V1_Stats) {
    self.init(
      received: stats.received, filtered: stats.filtered, passedThrough: stats.passedThrough,
      degraded: stats.degraded,
      dropped: Dictionary(
        stats.dropped.map { (DroppedFrame.Reason($0.reason), $0.count) }, uniquingKeysWith: +),
      inFlight: UInt64(stats.inFlight), bytesIn: stats.bytesIn, bytesOut: stats.bytesOut)
  }
}

extension AppliedChange {
  init(_ message: Sidelight_V1_Applied) {
    self.init(
      revision: message.revision, firstSequence: message.firstSequence,
      requestID: message.requestID)
  }
}

extension RejectedChange {
  init(_ message: Sidelight_V1_Error) {
    self.init(
      requestID: message.requestID,
      cause: message.status.code == Int32(RPCError.Code.aborted.rawValue)
        ? .otherRevision : .invalid,
      message: message.status.message)
  }
}

extension SessionState {
  init(_ message: Sidelight_V1_State) {
    switch message.state {
    case .running: self = .running
    case .paused: self = .paused
    case .draining: self = .draining
    case .overridden: self = .overridden(reason: message.message)
    case .unspecified, .UNRECOGNIZED: self = .other
    }
  }
}

extension Advice {
  init(_ message: Sidelight_V1_Advice) {
    self.init(
      bottleneck: message.bottleneck,
      suggestedFPS: message.suggestedFps > 0 ? message.suggestedFps : nil,
      suggestedScale: message.suggestedScale > 0 ? message.suggestedScale : nil)
  }
}

extension Analysis {
  init(_ message: Sidelight_V1_Analysis) {
    self.init(
      sequence: message.sequence, stage: message.stage, filter: message.filter,
      age: .microseconds(message.ageUs), figures: message.figures,
      detections: message.detections.map { detection in
        Detection(
          kind: detection.kind, trackingID: detection.trackingID,
          confidence: detection.confidence, x: detection.x, y: detection.y,
          width: detection.width, height: detection.height)
      })
  }
}
