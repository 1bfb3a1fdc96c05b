import SidelightWire
import SwiftProtobuf

extension SessionModel {
  /// Checks a message of the server.
  ///
  /// - Throws: ``Violation`` if the message is not allowed now.
  mutating func receive(_ message: Sidelight_V1_ServerMessage) throws(Violation) {
    guard let kind = message.kind else { throw Violation(description: "a message of no kind") }
    try self.check(self.finalStats == nil, "after the final stats: \(message)")
    if case .opened(let opened) = kind { return try self.receive(opened) }
    try self.check(self.opened != nil, "before opened: \(message)")
    switch kind {
    case .opened: break
    case .frame(let frame): try self.receive(frame)
    case .dropped(let dropped): try self.receive(dropped)
    case .applied(let applied): try self.receive(applied)
    case .stats(let stats): try self.receive(stats)
    case .pong(let pong): try self.receive(.pong(pong.id))
    case .error(let error):
      try self.receive(.error(requestID: error.requestID, code: error.status.code))
    case .accepted(let accepted):
      try self.receive(
        .accepted(requestID: accepted.requestID, revision: accepted.revision))
    case .state(let state): try self.receive(state.state)
    case .transitionEnded(let ended):
      throw Violation(description: "no transition was requested: \(ended)")
    case .keyFrameNeeded(let needed):
      throw Violation(description: "no frame is encoded video: \(needed)")
    case .advice, .analysis: break
    }
  }

  /// Checks the end of a call with OK.
  ///
  /// - Parameter seconds: The duration of the call.
  /// - Throws: ``Violation`` if it must not end with OK, or a message is missing.
  func endWell(after seconds: Double) throws(Violation) {
    try self.check(!self.hasTooManyErrors, "OK after too many errors in a row")
    try self.check(self.outstanding == 0, "\(self.outstanding) frames without outcome at the end")
    try self.check(self.controls.isEmpty, "no \(self.controls) at the end")
    try self.check(
      self.states.isEmpty || self.lastState == self.states.last,
      "the last state is \(String(describing: self.lastState)), \(self.states) were expected")
    try self.check(self.finalStats != nil, "no final stats")
    guard self.opening.maxFPS > 0 else { return }
    // A schedule of one frame an interval, at most a quarter of an interval early.
    try self.check(
      Double(self.framesWithinRate) <= 1.25 + seconds * self.opening.maxFPS,
      "\(self.framesWithinRate) frames in \(seconds) s, the limit is \(self.opening.maxFPS) a second"
    )
  }

  func check(_ holds: Bool, _ what: @autoclosure () -> String) throws(Violation) {
    if !holds { throw Violation(description: what()) }
  }

  // MARK: Other messages

  private mutating func receive(_ opened: Sidelight_V1_Opened) throws(Violation) {
    try self.check(self.opened == nil, "opened twice")
    self.opened = opened
    try self.check(opened.revision == 1, "opened with revision \(opened.revision)")
    try self.check(opened.framesInFlight == self.framesInFlight, "\(opened.framesInFlight) granted")
    try self.check(
      opened.mailboxDepth == min(max(1, self.opening.mailboxDepth), self.framesInFlight),
      "the mailbox holds \(opened.mailboxDepth)")
    let budget = self.opening.dropPolicy == .neverDrop ? 0 : self.opening.budget
    try self.check(opened.budgetUs == budget, "the budget is \(opened.budgetUs)")
    try self.check(
      opened.outputWindow == self.opening.outputWindow, "the window is \(opened.outputWindow)")
  }

  /// A state reports all changes up to its writing, so the server may skip earlier ones.
  private mutating func receive(_ state: Sidelight_V1_SessionState) throws(Violation) {
    let index = self.states[self.statesReceived...].firstIndex(of: state)
    try self.check(
      index != nil, "\(state), and \(self.states[self.statesReceived...]) are expected")
    if let index { self.statesReceived = index + 1 }
    self.lastState = state
  }

  private mutating func receive(_ control: Control) throws(Violation) {
    let expected = self.controls.popFirst()
    try self.check(
      control == expected, "\(control) instead of \(expected.map { "\($0)" } ?? "nothing")")
  }

  private mutating func receive(_ applied: Sidelight_V1_Applied) throws(Violation) {
    try self.check(!self.isApplicationPending, "\(applied) instead of the frame announced before")
    try self.check(
      applied.revision > self.applied?.revision ?? 0, "\(applied.revision) was applied already")
    try self.check(!applied.resumeToken.isEmpty, "applied brings no resume token")
    let unconfirmed = self.controls.contains { control in
      if case .accepted(_, let revision) = control { revision <= applied.revision } else { false }
    }
    try self.check(!unconfirmed, "\(applied.revision) was applied before it was accepted")
    self.applied = applied
    self.isApplicationPending = true
  }

  private mutating func receive(_ stats: Sidelight_V1_Stats) throws(Violation) {
    try self.check(
      stats.received == stats.outcomes + UInt64(stats.inFlight), "sums do not hold: \(stats)")
    try self.check(stats.received <= self.frames.count, "more received than sent: \(stats)")
    guard stats.final else {
      return try self.check(
        stats.outcomes >= UInt64(self.nextOutcome), "fewer outcomes than were seen: \(stats)")
    }
    self.finalStats = stats
    try self.check(self.isClosing, "final stats before the client closed its side")
    try self.check(stats.received == self.frames.count, "received \(stats.received)")
    try self.check(stats.inFlight == 0, "in flight at the end: \(stats.inFlight)")
    try self.check(stats.filtered == self.counts.filtered, "filtered \(stats.filtered)")
    try self.check(
      stats.passedThrough == self.counts.passedThrough, "passed through \(stats.passedThrough)")
    try self.check(stats.degraded == self.counts.degraded, "degraded \(stats.degraded)")
    try self.check(stats.bytesOut == self.counts.bytesOut, "bytes out \(stats.bytesOut)")
    let bytesIn = self.frames.reduce(0) { $0 + UInt64($1.message.image.inline.count) }
    try self.check(stats.bytesIn == bytesIn, "bytes in \(stats.bytesIn), sent \(bytesIn)")
    try self.check(
      stats.ignoredMessages == self.ignoredMessages, "ignored \(stats.ignoredMessages)")
    let drops = Dictionary(uniqueKeysWithValues: stats.dropped.map { ($0.reason, $0.count) })
    try self.check(drops == self.dropCounts, "dropped \(drops), seen \(self.dropCounts)")
  }
}
