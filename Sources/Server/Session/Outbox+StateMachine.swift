import DequeModule

extension Outbox {
  /// Puts outcomes into the order in which frames arrived, bounds how many pictures wait, and counts.
  /// Decides without waiting for anything itself.
  ///
  /// A frame's place is reserved when it arrives and filled when its fate is known. Only what stands
  /// at the head, with its fate known, goes out. Drops that follow each other become one notice.
  package struct StateMachine: ~Copyable {
    private enum Fate {
      case pending
      case made(FinishedFrame<Payload>)
      case dropped(DropRun)
    }

    private struct Entry {
      /// Frames are numbered as they arrive, since senders may repeat their own numbers.
      var arrival: UInt64
      var sequence: UInt64
      var fate: Fate
    }

    private let pictureLimit: Int
    private let backlogLimit: Int
    private var entries: Deque<Entry> = []
    private var controls: Deque<Control> = []
    private var picturesWaiting = 0
    private var nextArrival: UInt64 = 0
    private var appliedRevision: UInt64 = 0
    private var isFinished = false
    private var saidGoodbye = false
    package private(set) var counts = FrameCounts()

    /// - Parameters:
    ///   - pictureLimit: Made frames that may wait to be written; at least 1.
    ///   - backlogLimit: Entries of any kind beyond which the reader should hold the sender back.
    package init(pictureLimit: Int, backlogLimit: Int) {
      self.pictureLimit = pictureLimit
      self.backlogLimit = backlogLimit
    }

    /// Whether the reader may go on.
    package var hasRoom: Bool {
      self.isFinished || self.entries.count + self.controls.count < self.backlogLimit
    }

    /// Whether nothing waits that is no outcome, and more may come.
    package var isQuiet: Bool { !self.isFinished && self.controls.isEmpty }

    /// Whether a made frame finds room without displacing another.
    package var hasRoomForPicture: Bool {
      self.isFinished || self.picturesWaiting < self.pictureLimit
    }

    /// A frame arrives.
    ///
    /// - Returns: Its arrival number, by which it is resolved.
    package mutating func reserve(sequence: UInt64, byteCount: Int) -> UInt64 {
      let arrival = self.nextArrival
      self.nextArrival += 1
      self.counts.received += 1
      self.counts.bytesIn += UInt64(byteCount)
      self.entries.append(Entry(arrival: arrival, sequence: sequence, fate: .pending))
      return arrival
    }

    /// A frame was made.
    ///
    /// - Returns: The frame that it displaced, if too many wait.
    package mutating func resolve(_ arrival: UInt64, made frame: FinishedFrame<Payload>) -> Payload?
    {
      guard let index = self.pendingIndex(of: arrival) else { return nil }
      self.entries[index].fate = .made(frame)
      self.picturesWaiting += 1
      guard self.picturesWaiting > self.pictureLimit else { return nil }
      return self.displaceOldestPicture()
    }

    /// A frame was dropped.
    package mutating func resolve(_ arrival: UInt64, dropped drop: Drop) {
      guard let index = self.pendingIndex(of: arrival) else { return }
      self.drop(at: index, drop)
    }

    /// A message that is no frame's outcome.
    package mutating func push(_ control: Control) {
      self.controls.append(control)
    }

    /// A message of an unknown kind came.
    package mutating func countIgnoredMessage() {
      self.counts.ignoredMessages += 1
    }

    /// Nothing comes any more; what is in goes out, then the final counts.
    package mutating func finish() {
      self.isFinished = true
    }

    package enum Next {
      case item(Item)
      case wait
      case finished
    }

    /// What to write next.
    package mutating func next() -> Next {
      if let control = self.controls.popFirst() { return .item(.control(control)) }
      switch self.entries.first?.fate {
      case .made(let frame)? where frame.revision.number != self.appliedRevision:
        self.appliedRevision = frame.revision.number
        return .item(.applied(frame.revision, firstSequence: frame.sequence))
      case .made(let frame)?:
        self.entries.removeFirst()
        self.picturesWaiting -= 1
        self.counts.bytesOut += UInt64(frame.byteCount)
        switch frame.disposition {
        case .filtered: self.counts.filtered += 1
        case .passedThrough: self.counts.passedThrough += 1
        }
        return .item(.frame(frame))
      case .dropped(let run)?:
        self.entries.removeFirst()
        self.counts.dropped[run.drop.reason, default: 0] += UInt64(run.count)
        return .item(.dropped(run))
      case .pending?:
        return .wait
      case nil where self.isFinished && !self.saidGoodbye:
        self.saidGoodbye = true
        return .item(.finalCounts(self.counts))
      case nil:
        return self.isFinished ? .finished : .wait
      }
    }

    /// Arrivals only grow, and a run stands at its first frame's, so the search is binary.
    private func pendingIndex(of arrival: UInt64) -> Int? {
      var low = 0
      var high = self.entries.count
      while low < high {
        let middle = (low + high) / 2
        if self.entries[middle].arrival < arrival { low = middle + 1 } else { high = middle }
      }
      guard low < self.entries.count, self.entries[low].arrival == arrival,
        case .pending = self.entries[low].fate
      else { return nil }
      return low
    }

    private mutating func drop(at index: Int, _ drop: Drop) {
      let sequence = self.entries[index].sequence
      let run = DropRun(firstSequence: sequence, lastSequence: sequence, count: 1, drop: drop)
      self.entries[index].fate = .dropped(run)
      self.merge(index + 1)
      self.merge(index)
    }

    /// Merges the entry at `index` into the one before it, if both are drops that say the same.
    private mutating func merge(_ index: Int) {
      guard index > 0, index < self.entries.count,
        case .dropped(var run) = self.entries[index - 1].fate,
        case .dropped(let next) = self.entries[index].fate,
        run.absorb(next)
      else { return }
      self.entries[index - 1].fate = .dropped(run)
      self.entries.remove(at: index)
    }

    private mutating func displaceOldestPicture() -> Payload? {
      for index in self.entries.indices {
        if case .made(let frame) = self.entries[index].fate {
          self.picturesWaiting -= 1
          self.drop(at: index, Drop(reason: .outputSuperseded, stage: .outbox))
          return frame.payload
        }
      }
      return nil
    }
  }
}
