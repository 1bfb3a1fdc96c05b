import SidelightWire
import SwiftProtobuf

extension Sidelight_V1_Dropped {
  init(_ run: DropRun) {
    self.init()
    self.firstSequence = run.firstSequence
    self.lastSequence = run.lastSequence
    self.count = run.count
    self.reason = Sidelight_V1_DropReason(run.drop.reason)
    self.stage =
      switch run.drop.stage {
      case .arrival: .arrival
      case .mailbox: .mailbox
      case .pipeline: .pipeline
      case .outbox: .outbox
      }
    self.lateUs = run.lateness.wireMicroseconds
    if let diagnostic = run.drop.diagnostic { self.diagnostic = Google_Rpc_Status(diagnostic) }
  }
}

extension Sidelight_V1_Disposition {
  init(_ disposition: Disposition) {
    self =
      switch disposition {
      case .filtered: .filtered
      case .passedThrough: .passedThrough
      case .degraded: .degraded
      }
  }
}

extension Sidelight_V1_DropReason {
  init(_ reason: DropReason) {
    self =
      switch reason {
      case .superseded: .superseded
      case .queueFull: .queueFull
      case .lateOnArrival: .lateOnArrival
      case .lateInPipeline: .lateInPipeline
      case .lateOnOutput: .lateOnOutput
      case .noCredit: .noCredit
      case .rateLimited: .rateLimited
      case .paused: .paused
      case .invalidFrame: .invalidFrame
      case .stageFailed: .stageFailed
      case .draining: .draining
      case .outputSuperseded: .outputSuperseded
      }
  }
}

extension Sidelight_V1_Stats {
  init(_ counts: FrameCounts, isFinal: Bool) {
    self.init()
    self.received = counts.received
    self.filtered = counts.filtered
    self.passedThrough = counts.passedThrough
    self.degraded = counts.degraded
    self.inFlight = UInt32(clamping: counts.inFlight)
    self.bytesIn = counts.bytesIn
    self.bytesOut = counts.bytesOut
    self.ignoredMessages = counts.ignoredMessages
    self.final = isFinal
    // In the order of the enumeration, so that the same counts make the same bytes.
    self.dropped = DropReason.allCases.compactMap { reason in
      guard let count = counts.dropped[reason] else { return nil }
      return .with {
        $0.reason = Sidelight_V1_DropReason(reason)
        $0.count = count
      }
    }
  }
}
