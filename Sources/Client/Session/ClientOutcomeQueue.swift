import DequeModule

/// The outcomes of frames, decided on the client or at the server, in the order in which the frames
/// were sent; and their counts. A pure state machine.
///
/// Outcomes that are not taken are bounded: the window bounds outcomes that return a credit;
/// outcomes without a credit are kept as runs, or, with fallback pictures, as the newest few.
package struct ClientOutcomeQueue<PendingFrame: Sendable, Event: Sendable>: Sendable {
  /// An item to deliver.
  package enum Item: Sendable {
    case event(Event)
    /// The outcome of a frame that was sent; taking it returns a credit and, if `isPicture`,
    /// consumes a picture.
    case outcome(Event, sequence: UInt64, isPicture: Bool)
    /// A frame dropped on the client, without a fallback picture.
    case dropped(UInt64, DroppedFrame.Reason)
  }

  private enum Entry {
    /// A frame whose outcome is not known yet.
    case pending(UInt64, PendingFrame)
    /// Frames dropped on the client, first to last.
    case run(ClosedRange<UInt64>, DroppedFrame.Reason)
    /// A frame dropped on the client, with a fallback picture.
    case fallback(UInt64, DroppedFrame.Reason, Event)
    /// The outcome of a sent frame.
    case outcome(Event, sequence: UInt64, isPicture: Bool)
    /// Another event. Of events with the same topic only the newest is kept.
    case event(Event, topic: String?)
  }

  private var entries: Deque<Entry> = []
  private var fallbacks = 0
  /// Entries of kind `event`.
  private var events = 0
  private let fallbackLimit: Int
  private var end: Result<Void, any Error>?
  package private(set) var counts = OutcomeCounts()

  /// - Parameter fallbackLimit: The number of fallback pictures that may wait to be taken.
  package init(fallbackLimit: Int = 4) {
    self.fallbackLimit = fallbackLimit
  }

  /// Adds a frame whose outcome is not known yet.
  package mutating func add(_ frame: PendingFrame, sequence: UInt64) {
    self.entries.append(.pending(sequence, frame))
    self.counts.recordSubmission()
  }

  /// Returns the frame of that number if its outcome is not known yet.
  package func pending(_ sequence: UInt64) -> PendingFrame? {
    guard let index = self.index(of: sequence), case .pending(_, let frame) = self.entries[index]
    else { return nil }
    return frame
  }

  /// Returns the frames in a range whose outcomes are not known yet.
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

  package mutating func resolve(_ sequence: UInt64, _ event: Event, as result: FrameResult) {
    guard let index = self.index(of: sequence) else { return }
    let isPicture = if case .filtered = result { true } else { false }
    self.entries[index] = .outcome(event, sequence: sequence, isPicture: isPicture)
    self.counts.record(result)
  }

  /// Adds the outcome of a frame that the server made.
  package mutating func push(_ event: Event, as result: FrameResult) {
    self.counts.recordSubmission()
    self.counts.record(result)
    self.push(event)
  }

  /// Drops a frame on the client.
  ///
  /// - Parameter fallback: Its outcome with a fallback picture, if any.
  package mutating func drop(
    _ sequence: UInt64, _ reason: DroppedFrame.Reason, fallback: Event? = nil
  ) {
    guard let index = self.index(of: sequence) else { return }
    self.counts.record(.dropped(reason))
    guard let fallback else { return self.setRun(at: index, sequence, reason) }
    self.entries[index] = .fallback(sequence, reason, fallback)
    self.fallbacks += 1
    if self.fallbacks > self.fallbackLimit { self.removeOldestFallback() }
  }

  /// The number of events other than outcomes that may wait to be taken; beyond it the oldest is
  /// removed. This bounds the memory of a program that doesn't read while the server keeps sending.
  /// It is more than the outcomes that 4 named outputs have for 64 frames in flight, the most that a
  /// server grants.
  package static var eventLimit: Int { 512 }

  /// Adds an event other than an outcome, before the first frame whose outcome is not known.
  ///
  /// - Parameter topic: A topic; the event replaces an untaken event of the same topic.
  package mutating func push(_ event: Event, topic: String? = nil) {
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

  /// Ends the queue after the items that it contains.
  package mutating func finish(_ end: Result<Void, any Error>) {
    if self.end == nil { self.end = end }
  }

  /// The next step of the reader.
  package enum Next: Sendable {
    case item(Item)
    case wait
    case end(Result<Void, any Error>)
  }

  package mutating func next() -> Next {
    switch self.entries.first {
    case .event(let event, _)?:
      self.entries.removeFirst()
      self.events -= 1
      return .item(.event(event))
    case .outcome(let event, let sequence, let isPicture)?:
      self.entries.removeFirst()
      return .item(.outcome(event, sequence: sequence, isPicture: isPicture))
    case .fallback(_, _, let event)?:
      self.entries.removeFirst()
      self.fallbacks -= 1
      return .item(.event(event))
    case .run(let range, let reason)?:
      if range.count == 1 {
        self.entries.removeFirst()
      } else {
        self.entries[0] = .run(range.lowerBound + 1 ... range.upperBound, reason)
      }
      return .item(.dropped(range.lowerBound, reason))
    case .pending?, nil:
      guard let end else { return .wait }
      return .end(end)
    }
  }

  /// Whether ``next()`` returns something other than `wait`.
  package var isReady: Bool {
    switch self.entries.first {
    case .pending?, nil: self.end != nil
    default: true
    }
  }

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

  /// Whether another fallback picture would remove the oldest one.
  package var isFullOfFallbacks: Bool { self.fallbacks >= self.fallbackLimit }

  /// Removes all fallback pictures that wait to be taken. The drops of their frames remain.
  package mutating func removeFallbacks() {
    while self.fallbacks > 0 { self.removeOldestFallback() }
  }

  private mutating func removeOldestFallback() {
    for (index, entry) in self.entries.enumerated() {
      guard case .fallback(let sequence, let reason, _) = entry else { continue }
      self.fallbacks -= 1
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
