import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// Checks of dropped frames.
extension SessionModel {
  mutating func receive(_ drop: Sidelight_V1_Dropped) throws(Violation) {
    let name = "\(drop.count) from \(drop.firstSequence) to \(drop.lastSequence), \(drop.reason)"
    try self.check(!self.isApplicationPending, "\(name), instead of the frame announced before")
    try self.check(drop.count > 0 && drop.count <= self.outstanding, "too many: \(name)")
    let indices = self.nextOutcome ..< self.nextOutcome + Int(drop.count)
    try self.check(
      self.frames[indices.lowerBound].message.sequence == drop.firstSequence,
      "\(name), instead of \(self.frames[indices.lowerBound].message.sequence)")
    try self.check(
      self.frames[indices.upperBound - 1].message.sequence == drop.lastSequence,
      "\(name): the last is \(self.frames[indices.upperBound - 1].message.sequence)")
    try self.check(
      drop.hasDiagnostic == (drop.reason == .invalidFrame || drop.reason == .stageFailed),
      "\(name): diagnostic \(drop.diagnostic)")
    try self.check(!drop.hasDiagnostic || drop.count == 1, "\(name): diagnostics are lost")
    try self.check(
      drop.lateUs == 0 || drop.reason == .lateInPipeline || drop.reason == .lateOnOutput,
      "\(name): \(drop.lateUs) us late, and that was not the reason")
    for index in indices {
      try self.check(
        self.frames[index].stagesOfDrop(for: drop.reason, in: self, at: index)
          .contains(drop.stage),
        "frame \(self.frames[index].message.sequence) (the \(index + 1)th) must not end as "
          + "\(drop.reason) at \(drop.stage)")
      let passed: Set<Sidelight_V1_DropReason> = [.noCredit, .rateLimited, .paused, .invalidFrame]
      if !passed.contains(drop.reason), !self.frames[index].message.mustProcess {
        self.framesWithinRate += 1
      }
    }
    self.nextOutcome += Int(drop.count)
    self.dropCounts[drop.reason, default: 0] += UInt64(drop.count)
  }
}

extension SessionModel.SentFrame {
  /// Returns the stages at which the frame may be dropped for a reason; empty if it must not be.
  ///
  /// - Parameters:
  ///   - session: The session's other messages.
  ///   - index: The frame's index.
  fileprivate func stagesOfDrop(
    for reason: Sidelight_V1_DropReason, in session: SessionModel, at index: Int
  ) -> Set<Sidelight_V1_DropStage> {
    switch self.status {
    case .invalid: return reason == .invalidFrame ? [.arrival] : []
    case .paused: return reason == .paused ? [.arrival] : []
    case .admitted: break
    }
    let opening = session.opening
    let mayGo = !self.message.mustProcess && opening.dropPolicy != .neverDrop
    let hasDeadline = session.deadline(of: self.message) != nil
    let isComputed = !self.passes && !self.pipeline.active.isEmpty
    switch reason {
    case .superseded:
      let others = session.frames[(index + 1)...]
      return mayGo && opening.dropPolicy == .newestWins && others.contains(where: self.yields)
        ? [.mailbox] : []
    case .queueFull:
      // Newest wins, unless the new frame has a lower priority than all waiting ones.
      let others = session.frames[..<index]
      return mayGo && (opening.dropPolicy == .keepOldest || others.contains(where: self.yields))
        ? [.mailbox] : []
    case .outputSuperseded: return mayGo && opening.dropPolicy == .newestWins ? [.outbox] : []
    case .lateOnArrival: return hasDeadline && isComputed ? [.arrival] : []
    case .lateInPipeline: return hasDeadline && isComputed ? [.mailbox, .pipeline] : []
    case .lateOnOutput: return hasDeadline ? [.outbox] : []
    case .noCredit:
      return opening.dropPolicy != .neverDrop && self.outstandingBefore >= session.framesInFlight
        ? [.arrival] : []
    case .rateLimited: return !self.message.mustProcess && opening.maxFPS > 0 ? [.arrival] : []
    case .stageFailed:
      let stated = isComputed ? self.pipeline.broken : nil
      let isBroken = stated.map { ($0.failurePolicy ?? opening.failurePolicy) == .drop } ?? false
      let isStuck = self.mayFindWorkerStuck && opening.failurePolicy == .drop
      return isBroken || isStuck ? [.pipeline] : []
    case .paused, .invalidFrame, .draining, .notDecodable, .unspecified, .UNRECOGNIZED: return []
    }
  }

  /// Returns whether another frame may stay while this one is evicted.
  private func yields(to other: SessionModel.SentFrame) -> Bool {
    other.status == .admitted
      && (other.message.mustProcess || other.message.priority >= self.message.priority)
  }
}
