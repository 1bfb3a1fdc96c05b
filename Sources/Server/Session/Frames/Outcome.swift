package import GRPCProtobuf
import Logging
package import SidelightWire
import SwiftProtobuf

/// A finished frame that waits to be written.
package struct FinishedFrame<Payload: Sendable>: Sendable {
  /// The client's number.
  package var sequence: UInt64
  package var disposition: FrameDisposition
  /// The revision of the pipeline that filtered it.
  package var revision: Revision
  /// The bytes of pixels.
  package var byteCount: Int
  /// The time after which it is useless, on the session's clock. `nil` disables the deadline.
  package var deadline: Duration?
  /// Whether the frame is never displaced, however long it waits.
  package var mustStay: Bool
  /// The message without the fields that are known only when it is written.
  package var payload: Payload

  package init(
    sequence: UInt64, disposition: FrameDisposition, revision: Revision, byteCount: Int,
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
  /// The error, if an error is the reason.
  package var diagnostic: GoogleRPCStatus?

  package init(reason: DropReason, stage: DropStage, diagnostic: GoogleRPCStatus? = nil) {
    self.reason = reason
    self.stage = stage
    self.diagnostic = diagnostic
  }
}

extension Logger {
  /// Logs a dropped frame, for operators who look into a session.
  func log(_ drop: Drop, sequence: UInt64? = nil) {
    var metadata: Logger.Metadata {
      var metadata: Logger.Metadata = ["reason": "\(drop.reason)", "stage": "\(drop.stage)"]
      if let sequence { metadata["sequence"] = "\(sequence)" }
      if let error = drop.diagnostic { metadata["error"] = "\(error.message)" }
      return metadata
    }
    self.debug("frame dropped", metadata: metadata)
  }
}

/// Consecutive frames dropped for the same reason.
package struct DropRun: Sendable, Hashable {
  package var firstSequence: UInt64
  package var lastSequence: UInt64
  package var count: UInt32
  package var drop: Drop
  /// The time by which the last frame exceeded its budget, or zero for other reasons.
  package var lateness: Duration = .zero

  /// Merges the following run into this one if both have the same reason and no diagnostic.
  ///
  /// - Returns: Whether it did.
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

extension Sidelight_V1_Dropped {
  init(_ run: DropRun) {
    self.init()
    self.firstSequence = run.firstSequence
    self.lastSequence = run.lastSequence
    self.count = run.count
    self.reason = Sidelight_V1_DropReason(run.drop.reason)
    self.stage = Sidelight_V1_DropStage(run.drop.stage)
    self.lateUs = run.lateness.wireMicroseconds
    if let diagnostic = run.drop.diagnostic { self.diagnostic = Google_Rpc_Status(diagnostic) }
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
    // In the order of the enumeration: the same counts give the same bytes.
    self.dropped = DropReason.serverReasons.compactMap { reason in
      guard let count = counts.dropped[reason] else { return nil }
      return .with {
        $0.reason = Sidelight_V1_DropReason(reason)
        $0.count = count
      }
    }
  }
}
