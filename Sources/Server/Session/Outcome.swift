package import GRPCProtobuf

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
