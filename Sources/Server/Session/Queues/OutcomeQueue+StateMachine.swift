import DequeModule

extension OutcomeQueue {
  /// Puts outcomes into the order in which frames arrived, bounds how many pictures wait, and counts.
  /// Decides without waiting for anything itself.
  ///
  /// A frame's place is reserved when it arrives and filled when its fate is known. Only what stands
  /// at the head, with its fate known, goes out. Drops that follow each other become one notice.
  package struct StateMachine: ~Copyable {
    private enum Resolution {
      case pending
      case finished(FinishedFrame<Payload>)
      case dropped(DropRun)
    }

    private struct Entry {
      /// Frames are numbered as they arrive, since senders may repeat their own numbers.
      var arrival: UInt64
      var sequence: UInt64
      var resolution: Resolution
    }

    private let pictureLimit: Int
    private let backlogLimit: Int
    private let creditLimit: Int
    private var window: OutputWindow
    private var pacer: NoticePacer
    private var entries: Deque<Entry> = []
    private var controls: Deque<Control> = []
    private var picturesWaiting = 0
    /// Frames whose outcome has not gone out.
    private var unresolvedFrames = 0
    private var nextArrival: UInt64 = 0
    private var appliedRevision: UInt64 = 0
    /// The frame that was announced as the first of its revision; it must be the next that goes out.
    private var announced: UInt64?
    private var isFinished = false
    private var hasSentFinalCounts = false
    /// What was made before this revision is not to be seen.
    private var minRevision: UInt64 = 0
    package private(set) var counts = FrameCounts()

    /// - Parameters:
    ///   - pictureLimit: Made frames that may wait to be written; at least 1.
    ///   - backlogLimit: Entries of any kind beyond which the reader should hold the sender back.
    ///   - creditLimit: Frames that may be without outcome.
    ///   - outputWindow: Pictures that may be unacknowledged; `nil` if the client does not acknowledge.
    ///   - noticesPerFrame: Frames that gave way of which the client is told, while one is made; at least 1.
    package init(
      pictureLimit: Int, backlogLimit: Int, creditLimit: Int = .max, outputWindow: Int? = nil,
      noticesPerFrame: Int = .max
    ) {
      self.pictureLimit = pictureLimit
      self.backlogLimit = backlogLimit
      self.creditLimit = creditLimit
      self.window = OutputWindow(size: outputWindow)
      self.pacer = NoticePacer(noticesPerFrame: noticesPerFrame)
    }

    /// Whether the reader may go on.
    package var hasCapacity: Bool {
      // After the final counts nothing is kept any more.
      self.hasSentFinalCounts || self.entries.count + self.controls.count < self.backlogLimit
    }

    /// Whether messages may be added that lose nothing by being left out: not while others wait
    /// because the client does not read, and not after the last.
    package var hasNoticeCapacity: Bool { !self.isFinished && self.controls.count < 8 }

    /// Whether a made frame finds room without displacing another.
    package var hasPictureCapacity: Bool {
      self.isFinished || self.picturesWaiting < self.pictureLimit
    }

    /// A frame arrives.
    ///
    /// - Returns: Its arrival number, by which it is resolved, and whether the sender had the credit
    ///   for it.
    package mutating func reserve(sequence: UInt64, byteCount: Int) -> Reservation {
      let reservation = Reservation(
        arrival: self.nextArrival, hasCredit: self.unresolvedFrames < self.creditLimit)
      self.nextArrival += 1
      // Whatever comes after the final counts has come too late to be counted.
      guard !self.hasSentFinalCounts else { return reservation }
      self.unresolvedFrames += 1
      self.counts.received += 1
      self.counts.bytesIn += UInt64(byteCount)
      self.entries.append(
        Entry(arrival: reservation.arrival, sequence: sequence, resolution: .pending))
      return reservation
    }

    /// A frame was made. Without effect if its fate is decided already.
    ///
    /// - Returns: The frame that it displaced, if too many wait.
    package mutating func resolve(_ arrival: UInt64, finished frame: FinishedFrame<Payload>) -> Payload?
    {
      guard let index = self.pendingIndex(of: arrival) else { return nil }
      guard frame.revision.number >= self.minRevision else {
        self.drop(
          at: index, Drop(reason: .outputSuperseded, stage: .outbox), lateness: .zero)
        return frame.payload
      }
      self.entries[index].resolution = .finished(frame)
      self.picturesWaiting += 1
      guard self.picturesWaiting > self.pictureLimit else { return nil }
      return self.displaceOldestPicture()
    }

    /// A frame was dropped. Without effect if its fate is decided already.
    package mutating func resolve(
      _ arrival: UInt64, dropped drop: Drop, lateness: Duration = .zero
    ) {
      guard let index = self.pendingIndex(of: arrival) else { return }
      self.drop(at: index, drop, lateness: lateness)
    }

    /// A message that is no frame's outcome. After the final counts nothing is said any more.
    package mutating func push(_ control: Control) {
      guard !self.hasSentFinalCounts else { return }
      self.controls.append(control)
    }

    /// What was made before a revision is not to be seen any more: an operator forced another
    /// pipeline. The frame that was announced as the next goes too; its notice follows `applied`.
    ///
    /// - Returns: The frames that will not be written.
    package mutating func discardPictures(before revision: UInt64) -> [Payload] {
      // Those that are being made now come later.
      self.minRevision = max(self.minRevision, revision)
      var discarded: [Payload] = []
      for index in self.entries.indices.reversed() {
        guard case .finished(let frame) = self.entries[index].resolution, frame.revision.number < revision
        else { continue }
        discarded.append(frame.payload)
        self.picturesWaiting -= 1
        if self.announced == self.entries[index].arrival { self.announced = nil }
        self.drop(
          at: index, Drop(reason: .outputSuperseded, stage: .outbox), lateness: .zero)
      }
      return discarded
    }

    /// A message of an unknown kind came.
    package mutating func countIgnoredMessage() {
      self.counts.ignoredMessages += 1
    }

    /// The client has consumed the picture with that number, and all before it.
    package mutating func acknowledge(_ sequence: UInt64) {
      self.window.acknowledge(sequence)
    }

    /// Nothing is acknowledged any more: the client has closed its side, but may still read.
    package mutating func openWindow() {
      self.window = OutputWindow(size: nil)
    }

    /// Nothing comes any more; what is in goes out, then the final counts.
    package mutating func finish() {
      self.isFinished = true
    }

    package enum Next {
      case item(Item)
      /// The picture at the head came too late to be written; its notice follows.
      case late(Payload)
      /// Nothing, until something else is said, or that time has come.
      case waitUntil(Duration)
      case wait
      case finished
    }

    /// What to write next.
    package mutating func next(at now: Duration = .zero) -> Next {
      if let control = self.controls.popFirst() { return .item(.control(control)) }
      switch self.entries.first?.resolution {
      case .finished(let frame)?:
        return self.next(frame, arrival: self.entries[0].arrival, at: now)
      case .dropped(let run)?:
        let isPaced =
          run.drop.reason == .superseded && self.pacer.isKnown && self.isFrameAwaited
        if isPaced, self.pacer.next > now { return .waitUntil(self.pacer.next) }
        return .item(.dropped(self.removeDrops(onlyFirst: isPaced, at: now)))
      case .pending?:
        return .wait
      case nil where self.isFinished && !self.hasSentFinalCounts:
        self.hasSentFinalCounts = true
        return .item(.finalCounts(self.counts))
      case nil:
        return self.isFinished ? .finished : .wait
      }
    }

    /// Whether there is a frame without fate, and nothing before it but frames that gave way to newer ones.
    private var isFrameAwaited: Bool {
      for entry in self.entries {
        switch entry.resolution {
        case .pending: return true
        case .dropped(let run) where run.drop.reason == .superseded: continue
        case .dropped, .finished: return false
        }
      }
      return false
    }

    /// The drops at the head that say the same.
    ///
    /// - Parameter onlyFirst: Whether those that follow wait for their own time.
    private mutating func removeDrops(onlyFirst: Bool, at now: Duration) -> DropRun {
      guard case .dropped(var run)? = self.entries.popFirst()?.resolution else {
        preconditionFailure("no drop stands at the head")
      }
      while !onlyFirst, case .dropped(let next)? = self.entries.first?.resolution, run.absorb(next) {
        self.entries.removeFirst()
      }
      if run.drop.reason == .superseded { self.pacer.recordNotice(at: now) }
      self.unresolvedFrames -= Int(run.count)
      self.counts.dropped[run.drop.reason, default: 0] += UInt64(run.count)
      return run
    }

    private mutating func next(
      _ frame: FinishedFrame<Payload>, arrival: UInt64, at now: Duration
    ) -> Next {
      let isAnnounced = self.announced == arrival
      if let deadline = frame.deadline, now > deadline, !isAnnounced {
        self.picturesWaiting -= 1
        self.drop(at: 0, Drop(reason: .lateOnOutput, stage: .outbox), lateness: now - deadline)
        return .late(frame.payload)
      }
      guard self.window.isOpen || self.isFinished else { return .wait }
      guard isAnnounced || frame.revision.number == self.appliedRevision else {
        self.appliedRevision = frame.revision.number
        self.announced = arrival
        return .item(.applied(frame.revision, firstSequence: frame.sequence))
      }
      self.announced = nil
      self.entries.removeFirst()
      self.picturesWaiting -= 1
      self.unresolvedFrames -= 1
      self.window.send(frame.sequence)
      self.pacer.recordFinished(at: now)
      self.counts.bytesOut += UInt64(frame.byteCount)
      switch frame.disposition {
      case .filtered: self.counts.filtered += 1
      case .passedThrough: self.counts.passedThrough += 1
      case .degraded: self.counts.degraded += 1
      }
      return .item(.frame(frame))
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
        case .pending = self.entries[low].resolution
      else { return nil }
      return low
    }

    private mutating func drop(at index: Int, _ drop: Drop, lateness: Duration) {
      let sequence = self.entries[index].sequence
      let run = DropRun(
        firstSequence: sequence, lastSequence: sequence, count: 1, drop: drop, lateness: lateness)
      self.entries[index].resolution = .dropped(run)
      // Those that gave way are told of one by one, and are no more than were granted.
      guard drop.reason != .superseded else { return }
      self.merge(index + 1)
      self.merge(index)
    }

    /// Merges the entry at `index` into the one before it, if both are drops that say the same.
    private mutating func merge(_ index: Int) {
      guard index > 0, index < self.entries.count,
        case .dropped(var run) = self.entries[index - 1].resolution,
        case .dropped(let next) = self.entries[index].resolution,
        run.absorb(next)
      else { return }
      self.entries[index - 1].resolution = .dropped(run)
      self.entries.remove(at: index)
    }

    private mutating func displaceOldestPicture() -> Payload? {
      for index in self.entries.indices where self.entries[index].arrival != self.announced {
        if case .finished(let frame) = self.entries[index].resolution, !frame.mustStay {
          self.picturesWaiting -= 1
          self.drop(
            at: index, Drop(reason: .outputSuperseded, stage: .outbox), lateness: .zero)
          return frame.payload
        }
      }
      return nil
    }
  }

  /// A frame's place in the order of outcomes.
  package struct Reservation: Sendable, Hashable {
    /// The number by which it is resolved.
    package var arrival: UInt64
    /// Whether no more frames were without outcome than were granted.
    package var hasCredit: Bool
  }
}
