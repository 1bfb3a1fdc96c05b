import SidelightWire

/// Decides which frames of a session go on to the mailbox: checks their numbers and tags, the
/// session's and the caller's rate, and the time that is left of their budgets.
struct FrameAdmission: ~Copyable {
  private let session: Session
  /// Enforces the frame rate that the client requested; `nil` disables the limit.
  private var decimator: FrameDecimator?
  private var lastSequence: UInt64?

  init(session: Session) {
    self.session = session
    self.decimator = session.options.maxFPS.map(FrameDecimator.init(framesPerSecond:))
  }

  /// Checks that a frame's number is greater than the previous frame's number.
  mutating func checkSequence(of frame: Sidelight_V1_Frame) throws(FieldViolation) {
    if let last = self.lastSequence, frame.sequence <= last {
      throw FieldViolation(
        field: "frame.sequence", reason: "is \(frame.sequence), after \(last) it must be greater",
        info: .outOfRange(frame.sequence, limit: "more than \(last)"))
    }
    self.lastSequence = frame.sequence
  }

  /// Checks the number and the length of a frame's tags.
  func checkTags(of frame: Sidelight_V1_Frame) throws(FieldViolation) {
    let tagBytes = frame.tags.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    guard frame.tags.count <= ContractLimits.maxTags, tagBytes <= ContractLimits.maxTagBytes else {
      throw FieldViolation(
        field: "frame.tags",
        reason: "has \(frame.tags.count) entries of \(tagBytes) bytes; the limits are "
          + "\(ContractLimits.maxTags) and \(ContractLimits.maxTagBytes)")
    }
  }

  /// Returns the reason to drop a valid frame on arrival, or `nil` if it is accepted. Waits for the
  /// caller's rate in a session that never drops.
  ///
  /// - Parameters:
  ///   - byteCount: The bytes of the frame's pixels.
  ///   - hasCredit: Whether the client had the credit to send it.
  ///   - isDecodedFirst: Whether the session's frame rate applies only once the frame is decoded.
  mutating func refusal(
    of frame: Sidelight_V1_Frame, byteCount: Int, hasCredit: Bool, pause: PipelineState.Pause,
    isDecodedFirst: Bool = false, at now: Duration
  ) async -> DropReason? {
    let neverDrops = self.session.options.dropPolicy == .neverDrop
    if pause == .dropping { return .paused }
    // A client that may not lose a frame is delayed instead.
    if !hasCredit, !neverDrops { return .noCredit }
    if !isDecodedFirst, self.isBeyondFrameRate(frame, at: now) { return .rateLimited }
    // The caller's rate applies to all frames.
    let isAllowed = await self.session.rateLimiter.takeFrame(of: byteCount, waiting: neverDrops)
    return isAllowed ? nil : .rateLimited
  }

  /// Returns whether a frame exceeds the session's frame rate.
  mutating func isBeyondFrameRate(_ frame: Sidelight_V1_Frame, at now: Duration) -> Bool {
    !frame.mustProcess && self.decimator?.admits(at: now) == false
  }

  /// Returns the time after which a frame is useless, if any.
  func deadline(of frame: Sidelight_V1_Frame, received: Duration) -> Duration? {
    let options = self.session.options
    guard !frame.mustProcess, options.dropPolicy != .neverDrop else { return nil }
    guard frame.hasBudgetUs else { return options.budget.map { received + $0 } }
    return frame.budgetUs == 0 ? nil : received + .microseconds(frame.budgetUs)
  }

  /// Returns whether the expected work fits into the frame's budget, and records the work as
  /// demand.
  func hasTime(for frame: IncomingFrame) -> Bool {
    if let earlier = frame.transition?.earlier.cost.work {
      self.session.engine.processing.scheduler.recordArrival(
        work: earlier, session: self.session.handle.number)
    }
    // A frame without time for both pipelines of a transition is filtered using the later one.
    guard let compiled = frame.compiledPipeline, !compiled.changesNothing,
      let expected = compiled.cost.expected
    else { return true }
    self.session.engine.processing.scheduler.recordArrival(
      work: compiled.cost.work ?? expected, session: self.session.handle.number)
    let cheapest = compiled.reduced?.cost.expected.map { min($0, expected) } ?? expected
    let encoding = self.session.output.expectedEncoding(of: compiled)
    guard let deadline = frame.deadline, frame.received + cheapest + encoding > deadline else {
      return true
    }
    compiled.cost.recordRefusal()
    self.session.output.encodingCost.recordRefusal()
    self.session.quality.recordLost()
    return false
  }
}

/// Reduces frames to a rate, evenly: 30 frames a second at a limit of 20 lose every third.
///
/// It keeps a schedule of one frame per interval instead of a gap since the last frame, so jitter
/// does not cost frames. A frame may be a quarter of an interval early.
package struct FrameDecimator: Sendable {
  private let interval: Duration
  private var due: Duration?

  /// - Parameter framesPerSecond: The limit, finite and greater than 0.
  package init(framesPerSecond: Double) {
    self.interval = .seconds(1 / framesPerSecond)
  }

  /// Returns whether a frame that arrives now is within the rate.
  package mutating func admits(at now: Duration) -> Bool {
    guard let due else {
      self.due = now + self.interval
      return true
    }
    guard now >= due - self.interval / 4 else { return false }
    // The schedule restarts after a gap; otherwise a burst would make up for the gap.
    self.due = (now - due > self.interval ? now : due) + self.interval
    return true
  }
}
