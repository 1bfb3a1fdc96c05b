import DequeModule

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
