import Logging
import ServiceLifecycle
import SidelightKernels
package import SidelightWire

/// Gives memory back to the system that nothing needs any more: frame buffers that were idle all the
/// time between two looks, and what is free on the heap (`docs/decisions/0010-allocator.md` says why it
/// is kept at all, `docs/decisions/0027-memory-released-under-load.md` when it goes).
package struct IdleMemoryReleaser: Sendable {
  let engine: Engine
  /// The time between two looks.
  let idleTime: Duration

  /// Looks until the task is cancelled or graceful shutdown begins.
  ///
  /// What a load leaves goes at the next look if there still are frames, else after one to two times.
  func run() async {
    await cancelWhenGracefulShutdown {
      var machine = StateMachine(activity: self.activity, heap: .current())
      while !Task.isCancelled {
        await self.engine.clock.wait(max(self.idleTime, .milliseconds(100)))
        if !Task.isCancelled { self.check(&machine) }
      }
    }
  }

  /// Grows with every frame, with every buffer that is asked for, and with every asset that comes or
  /// goes.
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
      "free memory went back to the system",
      metadata: [
        "bytes": "\(before.residentBytes - after.residentBytes)",
        "used_bytes": "\(after.usedBytes)",
        "milliseconds": "\(elapsed / .milliseconds(1))",
      ])
  }
}

extension IdleMemoryReleaser {
  /// Decides, at regular looks, whether to give back what is free of the heap.
  ///
  /// There are two reasons: nothing has happened since the last look, then once everything goes; or
  /// there still are frames, but more than an eighth of what is in memory is free.
  ///
  /// How much of the heap is free *and in memory* nobody can be asked. But what is in memory and not in
  /// use is the sum of that and of what cannot be given back (stacks, pages of pictures, pieces of pages
  /// between others that are used), and how much the latter is shows after each release.
  package struct StateMachine: Sendable {
    /// The part of what is in memory, an eighth, from which on it goes although some of it may be
    /// needed again.
    private static let surplusDivisor = 8

    private var activity: UInt64
    /// Whether everything went since there was activity: what goes while there is some is not all.
    private var isReleased = true
    /// What was in memory and not in use at the best of times since the last release.
    private var minOverheadBytes: Int

    /// - Parameters:
    ///   - activity: A count that grows with whatever happens.
    ///   - heap: What the process holds before it has done anything; `nil` if that cannot be known:
    ///     then only what is idle altogether goes.
    package init(activity: UInt64, heap: HeapUsage?) {
      self.activity = activity
      self.minOverheadBytes = heap?.overheadBytes ?? 0
    }

    /// Something went to the heap that no activity shows: what it leaves free there can go too.
    package mutating func freed() {
      self.isReleased = false
    }

    /// Whether the time has come to release what is free. Then say ``released(leaving:)``.
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

    /// What was free went.
    ///
    /// - Parameter heap: What the process holds now.
    package mutating func released(leaving heap: HeapUsage?) {
      self.minOverheadBytes = heap?.overheadBytes ?? 0
    }
  }
}

extension HeapUsage {
  /// Bytes in memory that the program does not use. Fewer than none where it has memory that it never
  /// touched.
  fileprivate var overheadBytes: Int { self.residentBytes - self.usedBytes }
}
