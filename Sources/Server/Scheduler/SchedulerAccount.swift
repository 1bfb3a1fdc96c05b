/// A session's account with the scheduler. It stands as long as anybody refers to it: the session, and
/// work of the session's that outlives it and is charged for what it takes up.
final class SchedulerAccount: Sendable {
  /// The session's number.
  let number: UInt64
  private let scheduler: FrameScheduler

  init(number: UInt64, scheduler: FrameScheduler) {
    self.number = number
    self.scheduler = scheduler
  }

  deinit {
    self.scheduler.leave(session: self.number)
  }
}
