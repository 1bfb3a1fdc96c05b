import SidelightKernels

/// A piece of work that may not come back, as whoever asked for it sees it.
///
/// Life: waiting -> begun -> done; given up at any time, after which it goes on, but is cancelled, and
/// nobody waits for it.
final class DetachedJob: Sendable {
  /// Does the work.
  ///
  /// - Parameter begun: Is finished when its turn has come.
  typealias Body = @Sendable (_ started: Completion) async -> Void

  private let body: Body
  private let started = Completion()
  private let done = Completion()
  /// Nobody needs to watch it any more: it is done, or was given up.
  private let released = Completion()

  init(_ body: @escaping Body) {
    self.body = body
  }

  /// Whether the work is done.
  var isDone: Bool { self.done.isOver }

  /// Returns when the work's turn has come, or it is done without one. If the caller is cancelled, the
  /// work is given up, and what waits for its turn is then done.
  func waitUntilStarted() async {
    await withTaskCancellationHandler {
      await self.started.wait()
    } onCancel: {
      self.abandon()
    }
  }

  /// Returns when the work is done, when the clock says that it has taken too long, or when the caller
  /// is cancelled.
  ///
  /// - Returns: Whether it is done.
  func wait(atMost limit: Duration, on clock: SessionClock) async -> Bool {
    await self.done.wait(atMost: limit, on: clock)
  }

  /// Nobody waits for it any more: its task is cancelled. Without effect on work that is done.
  func abandon() {
    self.released.finish()
  }

  /// Does the work. To be called once.
  func run(on compute: ComputePool) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask(executorPreference: compute) {
        await self.body(self.started)
        self.finish()
      }
      await self.released.wait()
      group.cancelAll()
    }
  }

  /// It is done, or will never be begun.
  func finish() {
    self.started.finish()
    self.done.finish()
    self.released.finish()
  }
}
