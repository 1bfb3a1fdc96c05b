import DequeModule

extension OutcomeLedger {
  /// Puts fates into the order in which frames were given, whether decided here or at the server.
  /// Decides without waiting for anything itself.
  package struct StateMachine: ~Copyable {
    private enum Entry {
      /// A frame whose fate is not known yet.
      case pending(UInt64, PendingFrame)
      /// Frames that were displaced before they were sent, first to last.
      case displaced(ClosedRange<UInt64>)
      /// Something to tell, and whether taking it returns a credit.
      case event(Event, isCredit: Bool)
    }

    private var entries: Deque<Entry> = []
    private var end: Result<Void, any Error>?

    package init() {}

    /// A frame is given.
    package mutating func add(_ frame: PendingFrame, sequence: UInt64) {
      self.entries.append(.pending(sequence, frame))
    }

    /// A frame was displaced before it was sent.
    package mutating func displace(_ sequence: UInt64) {
      guard let index = self.index(of: sequence) else { return }
      self.entries[index] = .displaced(sequence ... sequence)
      self.merge(index + 1)
      self.merge(index)
    }

    /// The frame of that number, if its fate is not known yet.
    package func pending(_ sequence: UInt64) -> PendingFrame? {
      guard let index = self.index(of: sequence), case .pending(_, let frame) = self.entries[index]
      else { return nil }
      return frame
    }

    /// The numbers of the frames within a range whose fate is not known yet.
    package func pending(in range: ClosedRange<UInt64>) -> [UInt64] {
      self.entries.compactMap { entry in
        if case .pending(let sequence, _) = entry, range.contains(sequence) {
          sequence
        } else {
          nil
        }
      }
    }

    /// A frame's fate is known.
    package mutating func resolve(_ sequence: UInt64, _ event: Event) {
      guard let index = self.index(of: sequence) else { return }
      self.entries[index] = .event(event, isCredit: true)
    }

    /// Something else is told. It stands before the first frame whose fate is not known.
    package mutating func tell(_ event: Event) {
      let index = self.entries.firstIndex { if case .pending = $0 { true } else { false } }
      self.entries.insert(.event(event, isCredit: false), at: index ?? self.entries.endIndex)
    }

    /// Nothing more will be told.
    package mutating func finish(_ end: Result<Void, any Error>) {
      if self.end == nil { self.end = end }
    }

    package enum Next {
      case event(Event, isCredit: Bool)
      case displaced(UInt64)
      case wait
      case end(Result<Void, any Error>)
    }

    /// What to tell next.
    package mutating func next() -> Next {
      switch self.entries.first {
      case .event(let event, let isCredit)?:
        self.entries.removeFirst()
        return .event(event, isCredit: isCredit)
      case .displaced(let range)?:
        if range.count == 1 {
          self.entries.removeFirst()
        } else {
          self.entries[0] = .displaced(range.lowerBound + 1 ... range.upperBound)
        }
        return .displaced(range.lowerBound)
      case .pending?, nil:
        guard let end else { return .wait }
        return .end(end)
      }
    }

    private func index(of sequence: UInt64) -> Int? {
      self.entries.firstIndex { if case .pending(sequence, _) = $0 { true } else { false } }
    }

    private mutating func merge(_ index: Int) {
      guard index > 0, index < self.entries.count,
        case .displaced(let first) = self.entries[index - 1],
        case .displaced(let second) = self.entries[index],
        first.upperBound + 1 == second.lowerBound
      else { return }
      self.entries[index - 1] = .displaced(first.lowerBound ... second.upperBound)
      self.entries.remove(at: index)
    }
  }
}
