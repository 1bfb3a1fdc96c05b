import DequeModule

/// The fates of frames, in the order in which the frames were given, whether decided here or at the
/// server; and their counts. A pure state machine.
///
/// What nobody takes is bounded: by the window where credits come back when fates are taken; fates
/// that cost no credit are kept as runs, or, with their pictures, as the newest few.
package struct OutcomeLedger<PendingFrame: Sendable, Event: Sendable>: Sendable {
  /// What is told.
  package enum Told: Sendable {
    case event(Event)
    /// A frame's fate, whose taking returns a credit; `isPicture`: and consumes a picture.
    case outcome(Event, sequence: UInt64, isPicture: Bool)
    /// A frame was dropped on this side, and nothing stands in for it.
    case dropped(UInt64, DroppedFrame.Reason)
  }

  private enum Entry {
    /// A frame whose fate is not known yet.
    case pending(UInt64, PendingFrame)
    /// Frames that were dropped on this side, first to last.
    case run(ClosedRange<UInt64>, DroppedFrame.Reason)
    /// A frame that was dropped on this side, and for which a picture stands in.
    case standIn(UInt64, DroppedFrame.Reason, Event)
    /// The fate of a frame that was sent.
    case outcome(Event, sequence: UInt64, isPicture: Bool)
    /// Something else to tell. Of those with the same topic only the newest is kept.
    case event(Event, topic: String?)
  }

  private var entries: Deque<Entry> = []
  private var standIns = 0
  /// Entries of kind `event`.
  private var events = 0
  private let standInLimit: Int
  private var end: Result<Void, any Error>?
  package private(set) var counts = OutcomeCounts()

  /// - Parameter standInLimit: Pictures that may stand in for frames and wait to be taken.
  package init(standInLimit: Int = 4) {
    self.standInLimit = standInLimit
  }

  /// A frame is given.
  package mutating func add(_ frame: PendingFrame, sequence: UInt64) {
    self.entries.append(.pending(sequence, frame))
    self.counts.give()
  }

  /// The frame of that number, if its fate is not known yet.
  package func pending(_ sequence: UInt64) -> PendingFrame? {
    guard let index = self.index(of: sequence), case .pending(_, let frame) = self.entries[index]
    else { return nil }
    return frame
  }

  /// The frames within a range whose fate is not known yet.
  package func pending(
    in range: some RangeExpression<UInt64>
  ) -> [(sequence: UInt64, frame: PendingFrame)] {
    self.entries.compactMap { entry in
      if case .pending(let sequence, let frame) = entry, range.contains(sequence) {
        (sequence, frame)
      } else {
        nil
      }
    }
  }

  /// The fate of a frame that was sent is known.
  package mutating func resolve(_ sequence: UInt64, _ event: Event, as fate: Fate) {
    guard let index = self.index(of: sequence) else { return }
    let isPicture = if case .made = fate { true } else { false }
    self.entries[index] = .outcome(event, sequence: sequence, isPicture: isPicture)
    self.counts.decide(fate)
  }

  /// A frame was dropped on this side.
  ///
  /// - Parameter standIn: Its outcome, if a picture stands in for it.
  package mutating func drop(
    _ sequence: UInt64, _ reason: DroppedFrame.Reason, standIn: Event? = nil
  ) {
    guard let index = self.index(of: sequence) else { return }
    self.counts.decide(.dropped(reason))
    guard let standIn else { return self.setRun(at: index, sequence, reason) }
    self.entries[index] = .standIn(sequence, reason, standIn)
    self.standIns += 1
    if self.standIns > self.standInLimit { self.forgetOldestStandIn() }
  }

  /// Events other than outcomes that wait to be taken; of more the oldest is forgotten. A server that
  /// never stops talking would fill the memory of a program that does not listen.
  package static var eventLimit: Int { 256 }

  /// Adds an event that is no outcome, before the first frame whose fate is not known.
  ///
  /// - Parameter topic: The event replaces one of the same topic that was not taken.
  package mutating func tell(_ event: Event, topic: String? = nil) {
    if let topic {
      self.removeFirstEvent { $0 == topic }
    }
    if self.events >= Self.eventLimit {
      self.removeFirstEvent { _ in true }
    }
    self.events += 1
    let index = self.entries.firstIndex { if case .pending = $0 { true } else { false } }
    self.entries.insert(.event(event, topic: topic), at: index ?? self.entries.endIndex)
  }

  /// Nothing more will be told.
  package mutating func finish(_ end: Result<Void, any Error>) {
    if self.end == nil { self.end = end }
  }

  package enum Next: Sendable {
    case told(Told)
    case wait
    case end(Result<Void, any Error>)
  }

  /// What to tell next.
  package mutating func next() -> Next {
    switch self.entries.first {
    case .event(let event, _)?:
      self.entries.removeFirst()
      self.events -= 1
      return .told(.event(event))
    case .outcome(let event, let sequence, let isPicture)?:
      self.entries.removeFirst()
      return .told(.outcome(event, sequence: sequence, isPicture: isPicture))
    case .standIn(_, _, let event)?:
      self.entries.removeFirst()
      self.standIns -= 1
      return .told(.event(event))
    case .run(let range, let reason)?:
      if range.count == 1 {
        self.entries.removeFirst()
      } else {
        self.entries[0] = .run(range.lowerBound + 1 ... range.upperBound, reason)
      }
      return .told(.dropped(range.lowerBound, reason))
    case .pending?, nil:
      guard let end else { return .wait }
      return .end(end)
    }
  }

  /// Whether ``next()`` would not say to wait.
  package var hasNews: Bool {
    switch self.entries.first {
    case .pending?, nil: self.end != nil
    default: true
    }
  }

  // MARK: Within

  private func index(of sequence: UInt64) -> Int? {
    self.entries.firstIndex { if case .pending(sequence, _) = $0 { true } else { false } }
  }

  private mutating func removeFirstEvent(where isWanted: (_ topic: String?) -> Bool) {
    let index = self.entries.firstIndex {
      if case .event(_, let topic) = $0 { isWanted(topic) } else { false }
    }
    guard let index else { return }
    self.entries.remove(at: index)
    self.events -= 1
  }

  private mutating func setRun(at index: Int, _ sequence: UInt64, _ reason: DroppedFrame.Reason) {
    self.entries[index] = .run(sequence ... sequence, reason)
    self.merge(index + 1)
    self.merge(index)
  }

  private mutating func forgetOldestStandIn() {
    for (index, entry) in self.entries.enumerated() {
      guard case .standIn(let sequence, let reason, _) = entry else { continue }
      self.standIns -= 1
      return self.setRun(at: index, sequence, reason)
    }
  }

  private mutating func merge(_ index: Int) {
    guard index > 0, index < self.entries.count,
      case .run(let first, let reason) = self.entries[index - 1],
      case .run(let second, reason) = self.entries[index],
      first.upperBound + 1 == second.lowerBound
    else { return }
    self.entries[index - 1] = .run(first.lowerBound ... second.upperBound, reason)
    self.entries.remove(at: index)
  }
}
