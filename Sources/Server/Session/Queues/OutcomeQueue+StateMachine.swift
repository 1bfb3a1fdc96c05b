import DequeModule

extension OutcomeQueue {
  /// The decisions of an outcome queue: puts outcomes into the order of arrival, bounds the
  /// pictures that wait, and counts. It returns actions and never waits itself.
  ///
  /// A frame gets an entry when it arrives, which is pending until the frame is resolved. Only a
  /// resolved entry at the head can be written. Adjacent drops for the same reason become one
  /// notice.
  package struct StateMachine: ~Copyable {
    private enum Resolution {
      case pending
      case finished(FinishedFrame<Payload>)
      case dropped(DropRun)
    }

    private struct Entry {
      /// The position in the order of arrival. Senders may repeat their own numbers.
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
    /// The frames whose outcome has not been written.
    private var unresolvedFrames = 0
    private var nextArrival: UInt64 = 0
    private var appliedRevision: UInt64 = 0
    /// The arrival of the frame that was announced as the first of its revision. It must be written
    /// next.
    private var announced: UInt64?
    private var isFinished = false
    private var hasSentFinalCounts = false
    /// The earliest revision whose frames may be written.
    private var minRevision: UInt64 = 0
    package private(set) var counts = FrameCounts()

    /// - Parameters:
    ///   - pictureLimit: The maximum number of finished frames waiting to be written, at least 1.
    ///   - backlogLimit: The number of entries of any kind at which the reader should wait.
    ///   - creditLimit: The maximum number of frames without an outcome.
    ///   - outputWindow: The maximum number of unacknowledged pictures. `nil` disables the limit.
    ///   - noticesPerFrame: The notices of superseded frames per finished frame, at least 1.
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

    /// Whether the reader may continue.
    package var hasCapacity: Bool {
      // After the final counts the queue stops adding entries.
      self.hasSentFinalCounts || self.entries.count + self.controls.count < self.backlogLimit
    }

    /// Whether optional messages may be added. They are refused at the end, and while others wait
    /// because the client does not read.
    package var hasNoticeCapacity: Bool { !self.isFinished && self.controls.count < 8 }

    /// Whether another finished frame fits without displacing one.
    package var hasPictureCapacity: Bool {
      self.isFinished || self.picturesWaiting < self.pictureLimit
    }

    /// Adds an entry for a frame that arrives.
    ///
    /// - Returns: The arrival number, by which the frame is resolved, and whether the client had
    ///   the credit to send it.
    package mutating func reserve(sequence: UInt64, byteCount: Int) -> Reservation {
      let reservation = Reservation(
        arrival: self.nextArrival, hasCredit: self.unresolvedFrames < self.creditLimit)
      self.nextArrival += 1
      // A frame after the final counts is too late to be counted.
      guard !self.hasSentFinalCounts else { return reservation }
      self.unresolvedFrames += 1
      self.counts.received += 1
      self.counts.bytesIn += UInt64(byteCount)
      self.entries.append(
        Entry(arrival: reservation.arrival, sequence: sequence, resolution: .pending))
      return reservation
    }

    /// Resolves a frame as finished. Has no effect if it is already resolved.
    ///
    /// - Returns: The frame that will not be written because too many wait or a later revision is
    ///   forced, if any.
    package mutating func resolve(_ arrival: UInt64, finished frame: FinishedFrame<Payload>)
      -> Payload?
    {
      guard let index = self.pendingIndex(of: arrival) else { return nil }
      guard self.mayWrite(frame) else {
        self.drop(
          at: index, Drop(reason: .outputSuperseded, stage: .outbox), lateness: .zero)
        return frame.payload
      }
      self.entries[index].resolution = .finished(frame)
      self.picturesWaiting += 1
      guard self.picturesWaiting > self.pictureLimit else { return nil }
      return self.displaceOldestPicture()
    }

    /// Resolves a frame as dropped. Has no effect if it is already resolved.
    package mutating func resolve(
      _ arrival: UInt64, dropped drop: Drop, lateness: Duration = .zero
    ) {
      guard let index = self.pendingIndex(of: arrival) else { return }
      self.drop(at: index, drop, lateness: lateness)
    }

    /// Queues a message that is not a frame's outcome. Ignores it after the final counts.
    package mutating func push(_ control: Control) {
      guard !self.hasSentFinalCounts else { return }
      self.controls.append(control)
    }

    /// Drops finished frames of earlier revisions, now and later, because an operator forced
    /// another pipeline. This includes the announced frame; its notice then follows `applied`.
    ///
    /// - Returns: The frames that will not be written.
    package mutating func discardPictures(before revision: UInt64) -> [Payload] {
      // Frames that are still being filtered are dropped when they are finished.
      self.minRevision = max(self.minRevision, revision)
      var discarded: [Payload] = []
      for index in self.entries.indices.reversed() {
        guard case .finished(let frame) = self.entries[index].resolution,
          frame.revision.number < revision
        else { continue }
        discarded.append(frame.payload)
        self.picturesWaiting -= 1
        if self.announced == self.entries[index].arrival { self.announced = nil }
        self.drop(
          at: index, Drop(reason: .outputSuperseded, stage: .outbox), lateness: .zero)
      }
      return discarded
    }

    /// Counts a message of an unknown kind.
    package mutating func countIgnoredMessage() {
      self.counts.ignoredMessages += 1
    }

    /// Records that the client has consumed a picture and all before it.
    package mutating func acknowledge(_ sequence: UInt64, at now: Duration = .zero) {
      self.window.acknowledge(sequence, at: now)
    }

    /// Stops waiting for acknowledgements: the client has closed its side, but may still read.
    package mutating func openWindow() {
      self.window = OutputWindow(size: nil)
    }

    /// Stops accepting items. The final counts follow the remaining items.
    package mutating func finish() {
      self.isFinished = true
    }

    package enum Next {
      case item(Item)
      /// The frame at the head is too late to be written; its notice follows.
      case late(Payload)
      /// Wait until the given time, unless the state changes before.
      case waitUntil(Duration)
      case wait
      case finished
    }

    /// Returns the next item to write.
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

    /// Whether a frame is pending, preceded only by superseded frames.
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

    /// Removes the drops with the same reason from the head.
    ///
    /// - Parameter onlyFirst: Whether to remove only the first, because every notice has its own
    ///   time.
    private mutating func removeDrops(onlyFirst: Bool, at now: Duration) -> DropRun {
      guard case .dropped(var run)? = self.entries.popFirst()?.resolution else {
        preconditionFailure("the entry at the head is not a drop")
      }
      while !onlyFirst, case .dropped(let next)? = self.entries.first?.resolution, run.absorb(next)
      {
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
      guard self.isFinished || self.window.isOpen(at: now) else { return .wait }
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
      self.counts.add(1, to: frame.disposition)
      var frame = frame
      // It is written however late it is encoded.
      if isAnnounced { frame.deadline = nil }
      return .item(.frame(frame))
    }

    /// Drops a frame that was taken to be written: it could not be encoded, or must not be shown
    /// any more.
    ///
    /// - Returns: The notice to write instead.
    package mutating func withdraw(
      _ frame: FinishedFrame<Payload>, as drop: Drop, lateness: Duration = .zero
    ) -> DropRun {
      self.window.withdraw(frame.sequence)
      self.counts.add(-1, to: frame.disposition)
      self.counts.bytesOut -= UInt64(frame.byteCount)
      self.counts.dropped[drop.reason, default: 0] += 1
      return DropRun(
        firstSequence: frame.sequence, lastSequence: frame.sequence, count: 1, drop: drop,
        lateness: lateness)
    }

    /// Returns the values to encode the next picture with.
    package mutating func adapt(_ wished: EncoderTarget, at now: Duration) -> EncoderTarget {
      self.window.adapt(wished, at: now)
    }

    /// Counts the bytes of a picture that was encoded when it was written.
    package mutating func countEncoded(byteCount: Int, at now: Duration) {
      self.counts.bytesOut += UInt64(byteCount)
      self.window.recordEncoded(byteCount: byteCount, at: now)
    }

    /// Returns whether no later revision has discarded the picture of a frame.
    package func mayWrite(_ frame: FinishedFrame<Payload>) -> Bool {
      frame.revision.number >= self.minRevision
    }

    /// Returns whether a frame has no outcome yet.
    func isPending(_ arrival: UInt64) -> Bool { self.pendingIndex(of: arrival) != nil }

    /// Returns whether a finished frame waits to be written.
    func isWaiting(_ arrival: UInt64) -> Bool {
      guard let index = self.index(of: arrival) else { return false }
      return if case .finished = self.entries[index].resolution { true } else { false }
    }

    private func pendingIndex(of arrival: UInt64) -> Int? {
      guard let index = self.index(of: arrival), case .pending = self.entries[index].resolution
      else { return nil }
      return index
    }

    /// Returns the index of a frame's entry. Binary search: the entries are sorted by the arrival of
    /// their first frame.
    private func index(of arrival: UInt64) -> Int? {
      var low = 0
      var high = self.entries.count
      while low < high {
        let middle = (low + high) / 2
        if self.entries[middle].arrival < arrival { low = middle + 1 } else { high = middle }
      }
      guard low < self.entries.count, self.entries[low].arrival == arrival else { return nil }
      return low
    }

    private mutating func drop(at index: Int, _ drop: Drop, lateness: Duration) {
      let sequence = self.entries[index].sequence
      let run = DropRun(
        firstSequence: sequence, lastSequence: sequence, count: 1, drop: drop, lateness: lateness)
      self.entries[index].resolution = .dropped(run)
      // Notices of superseded frames are not merged; the credits bound their number.
      guard drop.reason != .superseded else { return }
      self.merge(index + 1)
      self.merge(index)
    }

    /// Merges the entry at `index` into the one before it if both are drops for the same reason.
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

  /// The entry of a frame in the queue.
  package struct Reservation: Sendable, Hashable {
    /// The number by which the frame is resolved.
    package var arrival: UInt64
    /// Whether the client had the credit to send the frame.
    package var hasCredit: Bool
  }
}
