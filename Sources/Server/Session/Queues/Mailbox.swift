import DequeModule
import Synchronization

/// What stands between the reader of a session and its lane: room for a few frames, and a rule for
/// who goes when it is full. Whoever goes is handed back, so that no frame ends unnamed.
///
/// One task offers, one task takes.
package final class Mailbox<Element: Sendable>: Sendable {
  private let state: Mutex<StateMachine>

  /// - Parameters:
  ///   - depth: How many elements may wait; at least 1.
  ///   - policy: Who goes when they do.
  ///   - standing: What an element may claim against others.
  package init(
    depth: Int = 1, policy: DropPolicy = .newestWins,
    evictionPriority: @escaping @Sendable (Element) -> EvictionPriority = { _ in EvictionPriority() }
  ) {
    self.state = Mutex(StateMachine(depth: depth, policy: policy, evictionPriority: evictionPriority))
  }

  /// Takes an element in; waits for room if nothing may be dropped. Cancelling a task that waits
  /// closes the mailbox.
  ///
  /// - Returns: Who has no place any more: `nil`, a displaced element, or the offered one itself when
  ///   the mailbox is full or finished; and why.
  package func offer(_ element: Element) async -> Displaced? {
    let action = self.state.withLock { $0.offer(element) }
    switch action {
    case .deliver(let consumer):
      consumer.resume(returning: element)
      return nil
    case .accept: return nil
    case .reject(let displaced): return displaced
    case .wait: break
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // Between the two locks the consumer may have made room.
        let action = self.state.withLock { state in
          let action = state.offer(element)
          if case .wait = action { state.suspendProducer(element, continuation) }
          return action
        }
        switch action {
        case .deliver(let consumer):
          consumer.resume(returning: element)
          continuation.resume(returning: nil)
        case .accept: continuation.resume(returning: nil)
        case .reject(let displaced): continuation.resume(returning: displaced)
        case .wait: break
        }
      }
    } onCancel: {
      self.finish()
    }
  }

  /// Takes the oldest element out; waits for one. Ends when the mailbox is finished and empty, or the
  /// task is cancelled.
  package func next() async -> Element? {
    await self.element(takes: true)
  }

  /// Looks at the oldest element; waits for one. It stays where it is, and a newer one may take its place
  /// until it is taken out: whoever still has to wait for something else does not commit himself.
  /// Ends as ``next()`` does.
  package func first() async -> Element? {
    await self.element(takes: false)
  }

  /// Takes the oldest element out, if there is one.
  ///
  /// - Parameter isWanted: Whether it is to be taken.
  package func take(where isWanted: (Element) -> Bool = { _ in true }) -> Element? {
    let (element, producer) = self.state.withLock { state in
      if case .take(let element, _) = state.look(), isWanted(element),
        case .take(let element, let producer) = state.take()
      {
        return (Element?.some(element), producer)
      }
      return (nil, nil)
    }
    producer?.resume(returning: nil)
    return element
  }

  private func element(takes: Bool) async -> Element? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let action = self.state.withLock { state in
          let action = takes ? state.take() : state.look()
          if case .wait = action {
            state.suspendConsumer(.init(takes: takes, continuation: continuation))
          }
          return action
        }
        switch action {
        case .take(let element, let producer):
          producer?.resume(returning: nil)
          continuation.resume(returning: element)
        case .finish: continuation.resume(returning: nil)
        case .wait: break
        }
      }
    } onCancel: {
      self.finish()
    }
  }

  /// Whether whoever takes has nothing to do, and waits.
  package var isConsumerWaiting: Bool { self.state.withLock { $0.isConsumerWaiting } }

  /// Closes the mailbox: later offers come straight back, and `next` ends once it is empty.
  package func finish() {
    let (consumer, producer) = self.state.withLock { $0.finish() }
    consumer?.resume(returning: nil)
    if let producer {
      producer.continuation.resume(
        returning: Displaced(element: producer.element, reason: .draining))
    }
  }
}

/// What a frame may claim when a mailbox is full.
package struct EvictionPriority: Sendable, Hashable {
  /// The lowest goes first.
  package var priority: Int32
  /// Whether it stays whatever comes.
  package var mustStay: Bool

  package init(priority: Int32 = 0, mustStay: Bool = false) {
    self.priority = priority
    self.mustStay = mustStay
  }
}

extension Mailbox {
  /// An element that has no place in the mailbox any more, and why.
  package struct Displaced: Sendable {
    package var element: Element
    package var reason: DropReason
  }

  /// What a mailbox decides, without waiting for anything itself. One producer, one consumer.
  package struct StateMachine: ~Copyable {
    package typealias Producer = (
      element: Element, continuation: CheckedContinuation<Displaced?, Never>
    )

    /// A consumer that waits: for an element to take, or for one to look at.
    package struct Consumer {
      package var takes: Bool
      package var continuation: CheckedContinuation<Element?, Never>

      package init(takes: Bool, continuation: CheckedContinuation<Element?, Never>) {
        self.takes = takes
        self.continuation = continuation
      }
    }

    private let depth: Int
    private let policy: DropPolicy
    private let evictionPriority: @Sendable (Element) -> EvictionPriority
    private var elements: Deque<Element> = []
    private var consumer: Consumer?
    /// Whether the consumer has looked at the first element and comes back for it. It takes no room
    /// from the others meanwhile: it would be gone if the consumer had not to wait for anything else.
    private var isFirstAwaited = false
    private var producer: Producer?
    private var isFinished = false

    package init(
      depth: Int, policy: DropPolicy,
      evictionPriority: @escaping @Sendable (Element) -> EvictionPriority = { _ in EvictionPriority() }
    ) {
      precondition(depth >= 1, "a mailbox holds at least one element")
      self.depth = depth
      self.policy = policy
      self.evictionPriority = evictionPriority
    }

    package enum OfferAction {
      /// The consumer waits for it: resume it with the element, which is accepted.
      case deliver(CheckedContinuation<Element?, Never>)
      /// Taken in.
      case accept
      /// Somebody has no place any more: the displaced one, or the offered one itself.
      case reject(Displaced)
      /// There is no room, and nothing may be dropped: the producer waits.
      case wait
    }

    /// An element arrives.
    package mutating func offer(_ element: Element) -> OfferAction {
      guard !self.isFinished else {
        return .reject(Displaced(element: element, reason: .draining))
      }
      if let consumer = self.consumer.take() {
        if !consumer.takes {
          self.elements.append(element)
          self.isFirstAwaited = true
        }
        return .deliver(consumer.continuation)
      }
      if self.elements.count < self.depth + (self.isFirstAwaited ? 1 : 0) {
        self.elements.append(element)
        return .accept
      }
      guard self.policy != .neverDrop else { return .wait }
      guard let victim = self.evictionCandidate(for: element) else { return .wait }
      let reason: DropReason = self.policy == .newestWins ? .superseded : .queueFull
      guard victim < self.elements.count else {
        // Only a frame of lower priority than all that wait gives way to older ones.
        return .reject(Displaced(element: element, reason: .queueFull))
      }
      let displaced = self.elements.remove(at: victim)
      self.elements.append(element)
      return .reject(Displaced(element: displaced, reason: reason))
    }

    /// Who goes: of the lowest priority, the oldest or the newest as the policy has it.
    ///
    /// - Returns: Its place; that after the last is the offered element's. `nil` if all must stay.
    private func evictionCandidate(for element: Element) -> Int? {
      let standings = self.elements.map(self.evictionPriority) + [self.evictionPriority(element)]
      let droppable = standings.indices.filter { !standings[$0].mustStay }
      guard let lowest = droppable.map({ standings[$0].priority }).min() else { return nil }
      let candidates = droppable.filter { standings[$0].priority == lowest }
      return self.policy == .newestWins ? candidates.first : candidates.last
    }

    /// The producer waits with its element. Its continuation gets what is handed back: nothing, or
    /// the element itself if the mailbox closes first.
    package mutating func suspendProducer(
      _ element: Element, _ continuation: CheckedContinuation<Displaced?, Never>
    ) {
      self.producer = (element, continuation)
    }

    package enum TakeAction {
      /// Here is one; and the producer that waited for the room, if one did, is to be resumed.
      case take(Element, resume: CheckedContinuation<Displaced?, Never>?)
      /// There is none: the consumer waits.
      case wait
      /// There will be none any more.
      case finish
    }

    /// The consumer asks which element is first. That stays, and if a newer one takes its place, the
    /// first is another when the consumer comes to ``take()`` it.
    package mutating func look() -> TakeAction {
      guard let element = self.elements.first else { return self.isFinished ? .finish : .wait }
      self.isFirstAwaited = true
      return .take(element, resume: nil)
    }

    /// The consumer asks for an element.
    package mutating func take() -> TakeAction {
      self.isFirstAwaited = false
      if let element = self.elements.popFirst() {
        guard let (waiting, continuation) = self.producer.take() else {
          return .take(element, resume: nil)
        }
        self.elements.append(waiting)
        return .take(element, resume: continuation)
      }
      return self.isFinished ? .finish : .wait
    }

    /// Whether the consumer waits.
    var isConsumerWaiting: Bool { self.consumer != nil }

    /// The consumer waits.
    package mutating func suspendConsumer(_ consumer: Consumer) {
      self.consumer = consumer
    }

    /// Nothing is taken in any more; what is in can still be taken out.
    ///
    /// - Returns: Who waits, to be resumed: the consumer with nothing, the producer with its element.
    package mutating func finish() -> (
      consumer: CheckedContinuation<Element?, Never>?, producer: Producer?
    ) {
      self.isFinished = true
      return (self.consumer.take()?.continuation, self.producer.take())
    }
  }
}
