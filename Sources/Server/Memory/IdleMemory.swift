import Logging
import ServiceLifecycle
import SidelightKernels
import SidelightWire

/// Gives memory back to the system that nothing needs any more: frame buffers that were idle all the
/// time between two looks, and what is free on the heap (`docs/decisions/0010-allocator.md` says why it
/// is kept at all, `docs/decisions/0027-memory-released-under-load.md` when it goes).
package struct IdleMemory: Sendable {
  let engine: Engine
  /// The time between two looks.
  let idleTime: Duration

  /// Looks until the task is cancelled or graceful shutdown begins.
  ///
  /// What a load leaves goes at the next look if there still are frames, else after one to two
  /// times.
  func run() async {
    await cancelWhenGracefulShutdown {
      var machine = StateMachine(activity: self.activity, heap: .current())
      while !Task.isCancelled {
        await self.engine.clock.wait(max(self.idleTime, .milliseconds(100)))
        if !Task.isCancelled { self.look(&machine) }
      }
    }
  }

  /// Grows with every frame, with every buffer that is asked for, and with every asset that comes
  /// or goes.
  private var activity: UInt64 {
    let pool = self.engine.pool.statistics
    return self.engine.sessions.totals.received &+ UInt64(pool.hits + pool.misses)
      &+ self.engine.assets.activity
  }

  private func look(_ machine: inout StateMachine) {
    if self.engine.pool.trimUnneeded() { machine.freed() }
    let before = HeapUsage.current()
    guard machine.isDue(activity: self.activity, heap: before) else { return }
    let start = self.engine.clock.now()
    AllocatorSettings.releaseFreeMemory()
    let elapsed = self.engine.clock.now() - start
    let after = HeapUsage.current()
    machine.released(leaving: after)
    guard let before, let after else { return }
    self.engine.logger.debug(
      "free memory went back to the system",
      metadata: [
        "bytes": "\(before.residentBytes - after.residentBytes)",
        "used_bytes": "\(after.usedBytes)",
        "milliseconds": "\(elapsed / .milliseconds(1))",
      ])
  }
}
