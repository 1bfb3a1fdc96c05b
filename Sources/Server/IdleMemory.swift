import ServiceLifecycle
import SidelightKernels
import SidelightWire

/// Gives memory back to the system when there are no frames any more: what the pool keeps, and what
/// the C allocator was told to keep.
struct IdleMemory: Sendable {
  let engine: Engine
  /// How long nothing may have happened.
  let idleTime: Duration

  /// Watches until the task is cancelled or graceful shutdown begins.
  ///
  /// Looks once in each idle time, and so releases after one to two of them.
  func run() async {
    await cancelWhenGracefulShutdown {
      var watch = IdleWatch()
      while !Task.isCancelled {
        await self.engine.clock.wait(max(self.idleTime, .milliseconds(100)))
        if !Task.isCancelled, watch.isIdle(at: self.activity) { self.release() }
      }
    }
  }

  /// Grows with every frame, with every buffer that is asked for, and with every asset that comes or
  /// goes.
  private var activity: UInt64 {
    let pool = self.engine.pool.statistics
    return self.engine.sessions.totals.received &+ UInt64(pool.hits + pool.misses)
      &+ self.engine.assets.activity
  }

  private func release() {
    self.engine.pool.trim(to: 0)
    AllocatorSettings.releaseFreeMemory()
  }
}

/// Tells when something that happened has ceased.
struct IdleWatch {
  private var last: UInt64 = 0
  private var isReleased = true

  /// Whether there was activity, and none since the last look. True once for each time of activity.
  ///
  /// - Parameter activity: A count that grows.
  mutating func isIdle(at activity: UInt64) -> Bool {
    guard activity == self.last else {
      self.last = activity
      self.isReleased = false
      return false
    }
    defer { self.isReleased = true }
    return !self.isReleased
  }
}
