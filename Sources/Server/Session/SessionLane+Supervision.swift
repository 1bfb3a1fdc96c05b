import GRPCCore
import GRPCProtobuf

/// Frames whose filters may not come back: those of a user's own.
extension SessionWorker {
  /// Filters a frame, but goes on without it when that takes ten times what it may: it and those
  /// that come meanwhile get what the failure policy says, until the filter comes back.
  ///
  /// - Returns: A frame that was taken out when the filter had just come back, and has no outcome yet.
  func supervise(_ frame: IncomingFrame) async -> IncomingFrame? {
    let work = self.engine.detachedJobs.start { begun in
      await self.process(frame, begun) { frame }
    }
    // When the session is over, the filter may go on: the session does not wait for it.
    defer { work.abandon() }
    // A frame's wait for its turn is not its filter's fault.
    await work.waitUntilStarted()
    let limit = self.timeout(of: frame)
    // The wait also ends when the session does; then nothing has overrun.
    guard await work.wait(atMost: limit, on: self.clock) == false, !Task.isCancelled else {
      return nil
    }
    let status = GoogleRPCStatus(
      code: .deadlineExceeded, message: "A custom filter has taken more than \(limit).")
    await self.fail(frame, status, self.policy(for: frame, failed: nil), started: self.clock.now())
    while !work.isDone, let next = await self.session.mailbox.next() {
      await self.waitForCapacity()
      guard !Task.isCancelled else { return nil }
      guard !work.isDone else { return next }
      // What needs no filter has nothing to wait for.
      guard next.compiledPipeline?.changesNothing == false else {
        self.passThrough(next, started: self.clock.now())
        continue
      }
      await self.fail(next, status, self.policy(for: next, failed: nil), started: self.clock.now())
    }
    return nil
  }

  /// When the failure policy applies.
  private func timeout(of frame: IncomingFrame) -> Duration {
    frame.deadline.map { ($0 - frame.received) * 10 } ?? self.engine.customFilterTimeout
  }

  /// When the others stop waiting for a frame: long before that.
  func turnLimit(for frame: IncomingFrame, _ compiledPipeline: CompiledPipeline) -> Duration {
    min(
      self.timeout(of: frame),
      max(FrameScheduler.unknownTurnLimit, (compiledPipeline.cost.expected ?? .zero) * 4))
  }
}
