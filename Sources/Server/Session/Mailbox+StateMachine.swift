import DequeModule

extension Mailbox {
  /// What a mailbox decides, without waiting for anything itself. One producer, one consumer.
  package struct StateMachine: ~Copyable {
    private let depth: Int
    private let policy: DropPolicy
    private var elements: Deque<Element> = []
    private var consumer: CheckedContinuation<Element?, Never>?
    private var producer: (element: Element, continuation: CheckedContinuation<Element?, Never>)?
    private var isFinished = false

    package init(depth: Int, policy: DropPolicy) {
      precondition(depth >= 1, "a mailbox holds at least one element")
      self.depth = depth
      self.policy = policy
    }

    package enum OfferAction {
      /// The consumer waits for it: resume it with the element, and accept.
      case deliver(CheckedContinuation<Element?, Never>)
      /// Taken in.
      case accept
      /// Somebody has no place any more: the displaced one, or the offered one itself.
      case handBack(Element)
      /// There is no room, and nothing may be dropped: the producer waits.
      case wait
    }

    /// An element arrives.
    package mutating func offer(_ element: Element) -> OfferAction {
      guard !self.isFinished else { return .handBack(element) }
      if let consumer = self.consumer.take() { return .deliver(consumer) }
      if self.elements.count < self.depth {
        self.elements.append(element)
        return .accept
      }
      switch self.policy {
      case .newestWins:
        let displaced = self.elements.removeFirst()
        self.elements.append(element)
        return .handBack(displaced)
      case .keepOldest:
        return .handBack(element)
      case .neverDrop:
        return .wait
      }
    }

    /// The producer waits with its element. Its continuation gets what is handed back: nothing, or
    /// the element itself if the mailbox closes first.
    package mutating func suspendProducer(
      _ element: Element, _ continuation: CheckedContinuation<Element?, Never>
    ) {
      self.producer = (element, continuation)
    }

    package enum TakeAction {
      /// Here is one; and the producer that waited for the room, if one did, is to be resumed.
      case take(Element, resume: CheckedContinuation<Element?, Never>?)
      /// There is none: the consumer waits.
      case wait
      /// There will be none any more.
      case finish
    }

    /// The consumer asks for an element.
    package mutating func take() -> TakeAction {
      if let element = self.elements.popFirst() {
        guard let (waiting, continuation) = self.producer.take() else {
          return .take(element, resume: nil)
        }
        self.elements.append(waiting)
        return .take(element, resume: continuation)
      }
      return self.isFinished ? .finish : .wait
    }

    /// The consumer waits.
    package mutating func suspendConsumer(_ continuation: CheckedContinuation<Element?, Never>) {
      self.consumer = continuation
    }

    /// Nothing is taken in any more; what is in can still be taken out.
    ///
    /// - Returns: Who waits, to be resumed: the consumer with nothing, the producer with its element.
    package mutating func finish() -> (
      consumer: CheckedContinuation<Element?, Never>?,
      producer: (element: Element, continuation: CheckedContinuation<Element?, Never>)?
    ) {
      self.isFinished = true
      return (self.consumer.take(), self.producer.take())
    }
  }
}
