extension IdleMemory {
  /// Decides, at regular looks, whether to give back what is free of the heap.
  ///
  /// There are two reasons: nothing has happened since the last look, then once everything goes; or
  /// there still are frames, but more than an eighth of what is in memory is free.
  ///
  /// How much of the heap is free *and in memory* nobody can be asked. But what is in memory and
  /// not in use is the sum of that and of what cannot be given back (stacks, pages of pictures,
  /// pieces of pages between others that are used), and how much the latter is shows after each
  /// release.
  package struct StateMachine: Sendable {
    /// The part of what is in memory, an eighth, from which on it goes although some of it may be
    /// needed again.
    private static let worthwhilePart = 8

    private var activity: UInt64
    /// Whether everything went since there was activity: what goes while there is some is not all.
    private var isReleased = true
    /// What was in memory and not in use at the best of times since the last release.
    private var leastBeside: Int

    /// - Parameters:
    ///   - activity: A count that grows with whatever happens.
    ///   - heap: What the process holds before it has done anything; `nil` if that cannot be known:
    ///     then only what is idle altogether goes.
    package init(activity: UInt64, heap: HeapUsage?) {
      self.activity = activity
      self.leastBeside = heap?.besideUse ?? 0
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
      self.leastBeside = min(self.leastBeside, heap.besideUse)
      let surplus = heap.besideUse - self.leastBeside
      return surplus > heap.residentBytes / Self.worthwhilePart
    }

    /// What was free went.
    ///
    /// - Parameter heap: What the process holds now.
    package mutating func released(leaving heap: HeapUsage?) {
      self.leastBeside = heap?.besideUse ?? 0
    }
  }
}

extension HeapUsage {
  /// Bytes in memory that the program does not use. Fewer than none where it has memory that it
  /// never touched.
  fileprivate var besideUse: Int { self.residentBytes - self.usedBytes }
}
