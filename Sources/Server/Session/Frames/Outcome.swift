package import GRPCProtobuf
import SidelightWire
import SwiftProtobuf

/// What was done to a frame that comes back.
package enum Disposition: Sendable, Hashable {
  /// The pipeline made it.
  case filtered
  /// It is the input.
  case passedThrough
  /// A cheaper variant of the pipeline made it.
  case degraded
}

/// A frame that was made and waits to be written.
package struct FinishedFrame<Payload: Sendable>: Sendable {
  /// The client's own number.
  package var sequence: UInt64
  /// What was done.
  package var disposition: Disposition
  /// The selection that it was made with.
  package var revision: Revision
  /// Bytes of pixels.
  package var byteCount: Int
  /// When it is of no use any more, on the session's clock; `nil`: never.
  package var deadline: Duration?
  /// Whether it is not displaced by another, however long it waits.
  package var mustStay: Bool
  /// The message, less what is known only when it is written.
  package var payload: Payload

  package init(
    sequence: UInt64, disposition: Disposition, revision: Revision, byteCount: Int,
    deadline: Duration? = nil, mustStay: Bool = false, payload: Payload
  ) {
    self.sequence = sequence
    self.disposition = disposition
    self.revision = revision
    self.byteCount = byteCount
    self.deadline = deadline
    self.mustStay = mustStay
    self.payload = payload
  }
}

/// Why and where a frame was dropped.
package struct Drop: Sendable, Hashable {
  package var reason: DropReason
  package var stage: DropStage
  /// What was wrong, where something was.
  package var diagnostic: GoogleRPCStatus?

  package init(reason: DropReason, stage: DropStage, diagnostic: GoogleRPCStatus? = nil) {
    self.reason = reason
    self.stage = stage
    self.diagnostic = diagnostic
  }
}

/// Frames in a row that were dropped for one reason.
package struct DropRun: Sendable, Hashable {
  package var firstSequence: UInt64
  package var lastSequence: UInt64
  package var count: UInt32
  package var drop: Drop
  /// How far past its budget the last frame was; zero where time was not the reason.
  package var lateness: Duration = .zero

  /// Takes the run that follows into this one, if both say the same and no diagnostic would be lost.
  package mutating func absorb(_ next: DropRun) -> Bool {
    guard self.drop == next.drop, self.drop.diagnostic == nil else { return false }
    let (count, isOverflow) = self.count.addingReportingOverflow(next.count)
    guard !isOverflow else { return false }
    self.lastSequence = next.lastSequence
    self.lateness = next.lateness
    self.count = count
    return true
  }
}

/// The number of a selection, and the message that made it.
package struct Revision: Sendable, Hashable {
  /// Counts up from 1 with each change that is in force.
  package var number: UInt64
  /// That of the message; 0 for `open` and for overrides.
  package var requestID: UInt64

  package init(number: UInt64, requestID: UInt64) {
    self.number = number
    self.requestID = requestID
  }
}

/// Why a frame ended without being made.
package enum DropReason: Sendable, Hashable, CaseIterable {
  /// A newer frame took its place in the mailbox.
  case superseded
  /// The mailbox was full, and others had the better claim.
  case queueFull
  /// On arrival its budget could not hold the work that is expected.
  case lateOnArrival
  /// Its budget was spent, or could no longer hold the work, before or between the passes.
  case lateInPipeline
  /// Its budget was spent before it was written.
  case lateOnOutput
  /// More frames were without outcome than were granted.
  case noCredit
  /// The session's frame rate was exceeded.
  case rateLimited
  /// The session is paused.
  case paused
  /// The frame could not be read.
  case invalidFrame
  /// A stage failed, and the policy is to drop.
  case stageFailed
  /// The server is shutting down.
  case draining
  /// The output waited to be written, and a newer one took its place.
  case outputSuperseded
}

/// Where a frame was when it was dropped.
package enum DropStage: Sendable, Hashable {
  /// Being read.
  case arrival
  /// Waiting for the lane.
  case mailbox
  /// Being filtered.
  case pipeline
  /// Waiting to be written.
  case outbox
}

extension DropReason {
  /// As metrics and traces have it: the wire's name in lower case.
  package var name: String {
    switch self {
    case .superseded: "superseded"
    case .queueFull: "queue_full"
    case .lateOnArrival: "late_on_arrival"
    case .lateInPipeline: "late_in_pipeline"
    case .lateOnOutput: "late_on_output"
    case .noCredit: "no_credit"
    case .rateLimited: "rate_limited"
    case .paused: "paused"
    case .invalidFrame: "invalid_frame"
    case .stageFailed: "stage_failed"
    case .draining: "draining"
    case .outputSuperseded: "output_superseded"
    }
  }
}

extension Disposition {
  /// As metrics and traces have it.
  package var name: String {
    switch self {
    case .filtered: "filtered"
    case .passedThrough: "passed_through"
    case .degraded: "degraded"
    }
  }
}

/// The counts of one session. Once no frame is in flight,
/// `received == filtered + passedThrough + degraded + dropped of every reason`.
package struct FrameCounts: Sendable, Hashable {
  /// Frames that arrived.
  package var received: UInt64 = 0
  /// Frames that the pipeline made.
  package var filtered: UInt64 = 0
  /// Frames that came back unchanged.
  package var passedThrough: UInt64 = 0
  /// Frames that a cheaper variant made.
  package var degraded: UInt64 = 0
  /// Frames that were not made.
  package var dropped: [DropReason: UInt64] = [:]
  /// Bytes of pixels received.
  package var bytesIn: UInt64 = 0
  /// Bytes of pixels sent.
  package var bytesOut: UInt64 = 0
  /// Messages of kinds that this build does not know.
  package var ignoredMessages: UInt64 = 0

  package init() {}

  /// Frames that have no outcome yet.
  package var inFlight: UInt64 {
    self.received - self.filtered - self.passedThrough - self.degraded
      - self.dropped.values.reduce(0, +)
  }

  /// Only the frames that have their outcome.
  package var decided: FrameCounts {
    var decided = self
    decided.received -= self.inFlight
    return decided
  }

  /// Adds those of another session.
  package mutating func add(_ other: FrameCounts) {
    self.received += other.received
    self.filtered += other.filtered
    self.passedThrough += other.passedThrough
    self.degraded += other.degraded
    self.dropped.merge(other.dropped, uniquingKeysWith: +)
    self.bytesIn += other.bytesIn
    self.bytesOut += other.bytesOut
    self.ignoredMessages += other.ignoredMessages
  }
}

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
