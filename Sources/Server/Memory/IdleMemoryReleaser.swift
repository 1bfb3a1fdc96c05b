import Logging
import ServiceLifecycle
import SidelightKernels
import SidelightWire

/// Releases unused memory to the system at regular checks: frame buffers that were idle since the
/// last check, and free memory of the heap. `docs/decisions/0052-memory.md` explains why free
/// memory is kept, and when it is released.
package struct IdleMemoryReleaser: Sendable {
  let engine: Engine
  /// The time between two checks.
  let idleTime: Duration

  /// Checks until the task is cancelled or a graceful shutdown begins.
  ///
  /// If frames still arrive, the memory of an earlier load is released at the next check; otherwise
  /// after one to two idle times.
  func run() async {
    await cancelWhenGracefulShutdown {
      var machine = StateMachine(activity: self.activity, heap: .current())
      while !Task.isCancelled {
        await self.engine.clock.wait(max(self.idleTime, .milliseconds(100)))
        if !Task.isCancelled { self.check(&machine) }
      }
    }
  }

  /// A count that grows with every frame, each requested buffer, and every asset that is added or
  /// removed.
  private var activity: UInt64 {
    let pool = self.engine.processing.pool.statistics
    return self.engine.admission.sessions.totals.received &+ UInt64(pool.hits + pool.misses)
      &+ self.engine.assets.activity
  }

  private func check(_ machine: inout StateMachine) {
    if self.engine.processing.pool.trimUnneeded() { machine.freed() }
    let before = HeapUsage.current()
    guard machine.isDue(activity: self.activity, heap: before) else { return }
    let start = self.engine.clock.now()
    AllocatorSettings.releaseFreeMemory()
    let elapsed = self.engine.clock.now() - start
    let after = HeapUsage.current()
    machine.released(leaving: after)
    guard let before, let after else { return }
    self.engine.observability.logger.debug(
      "released free memory to the system",
      metadata: [
        "bytes": "\(before.residentBytes - after.residentBytes)",
        "used_bytes": "\(after.usedBytes)",
        "milliseconds": "\(elapsed / .milliseconds(1))",
      ])
  }
}

extension IdleMemoryReleaser {
  /// Decides at every check whether to release the free memory of the heap.
  ///
  /// Memory is released in two cases: once when the server was idle since the last check, and
  /// whenever frames still arrive, but more than an eighth of the resident memory is free.
  ///
  /// The system does not report how much of the heap is free *and resident*. But the unused
  /// resident memory is the sum of the free memory and the memory that cannot be released (stacks,
  /// pages of pictures, fragments of pages in use), and the amount after a release shows the
  /// latter.
  package struct StateMachine: Sendable {
    /// The divisor of the resident memory that gives the surplus above which memory is released,
    /// although some of it may be needed again.
    private static let surplusDivisor = 8

    private var activity: UInt64
    /// Whether memory was released since the last activity. A release during activity is not
    /// complete.
    private var isReleased = true
    /// The minimum resident memory that was not in use since the last release.
    private var minOverheadBytes: Int

    /// - Parameters:
    ///   - activity: A count that grows with all activity.
    ///   - heap: The heap before any activity. If `nil`, memory is released only while the server
    ///     is idle.
    package init(activity: UInt64, heap: HeapUsage?) {
      self.activity = activity
      self.minOverheadBytes = heap?.overheadBytes ?? 0
    }

    /// Records that memory was freed without activity, which makes it releasable.
    package mutating func freed() {
      self.isReleased = false
    }

    /// Returns whether to release free memory. Call ``released(leaving:)`` afterwards.
    package mutating func isDue(activity: UInt64, heap: HeapUsage?) -> Bool {
      guard activity != self.activity else {
        defer { self.isReleased = true }
        return !self.isReleased
      }
      self.activity = activity
      self.isReleased = false
      guard let heap else { return false }
      self.minOverheadBytes = min(self.minOverheadBytes, heap.overheadBytes)
      let surplus = heap.overheadBytes - self.minOverheadBytes
      return surplus > heap.residentBytes / Self.surplusDivisor
    }

    /// Records a release.
    ///
    /// - Parameter heap: The heap after the release.
    package mutating func released(leaving heap: HeapUsage?) {
      self.minOverheadBytes = heap?.overheadBytes ?? 0
    }
  }
}

extension HeapUsage {
  /// The resident bytes that are not in use. Negative if the program has memory that it never
  /// touched.
  fileprivate var overheadBytes: Int { self.residentBytes - self.usedBytes }
}
