import DequeModule
package import SidelightWire
import Synchronization

/// A bounded queue between the reader of a session and its worker, with a policy for a full queue.
/// It returns displaced elements to the producer, which resolves them: every frame gets an outcome.
///
/// For one producer task and one consumer task.
package final class Mailbox<Element: Sendable>: Sendable {
  private let state: Mutex<StateMachine>

  /// - Parameters:
  ///   - depth: The maximum number of waiting elements, at least 1.
  ///   - policy: The elements to displace when the mailbox is full.
  package init(
    depth: Int = 1, policy: DropPolicy = .newestWins,
    evictionPriority: @escaping @Sendable (Element) -> EvictionPriority = { _ in EvictionPriority()
    }
  ) {
    self.state = Mutex(
      StateMachine(depth: depth, policy: policy, evictionPriority: evictionPriority))
  }

  /// Adds an element. Waits for capacity if the policy doesn't drop elements. Cancellation of a
  /// waiting task closes the mailbox.
  ///
  /// - Returns: The displaced elements, of which one may be the offered one, and the reasons.
  package func offer(_ element: Element) async -> [Displaced] {
    let action = self.state.withLock { $0.offer(element) }
    switch action {
    case .deliver(let consumer):
      consumer.resume(returning: element)
      return []
    case .accept: return []
    case .reject(let displaced): return displaced
    case .wait: break
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // The consumer may have taken an element while the lock was released.
        let action = self.state.withLock { state in
          let action = state.offer(element)
          if case .wait = action { state.suspendProducer(element, continuation) }
          return action
        }
        switch action {
        case .deliver(let consumer):
          consumer.resume(returning: element)
          continuation.resume(returning: [])
        case .accept: continuation.resume(returning: [])
        case .reject(let displaced): continuation.resume(returning: displaced)
        case .wait: break
        }
      }
    } onCancel: {
      self.finish()
    }
  }

  /// Adds an element without waiting. A full mailbox whose policy does not drop elements returns it.
  ///
  /// - Returns: As ``offer(_:)``.
  func offerAtOnce(_ element: Element) -> [Displaced] {
    switch self.state.withLock({ $0.offer(element) }) {
    case .deliver(let consumer):
      consumer.resume(returning: element)
      return []
    case .accept: return []
    case .reject(let displaced): return displaced
    case .wait: return [Displaced(element: element, reason: .queueFull)]
    }
  }

  /// Waits until an element fits without displacing another, or the mailbox is finished.
  /// Cancellation of the waiting task closes the mailbox.
  package func waitForRoom() async {
    guard self.state.withLock({ !$0.hasRoom }) else { return }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let hasRoom = self.state.withLock { state in
          if !state.hasRoom { state.suspendForRoom(continuation) }
          return state.hasRoom
        }
        if hasRoom { continuation.resume() }
      }
    } onCancel: {
      self.finish()
    }
  }

  /// Removes the oldest element. Waits until an element is available.
  ///
  /// - Returns: `nil` when the mailbox is finished and empty, or the task is cancelled.
  package func next() async -> Element? {
    await self.element(takes: true)
  }

  /// Returns the oldest element without removing it. Waits until an element is available. A newer
  /// element may displace it until ``take(where:)``: a consumer with other things to wait for gets
  /// the newest.
  ///
  /// - Returns: `nil` when the mailbox is finished and empty, or the task is cancelled.
  package func first() async -> Element? {
    await self.element(takes: false)
  }

  /// Removes the oldest element, if any, if it satisfies the condition.
  package func take(where isWanted: (Element) -> Bool = { _ in true }) -> Element? {
    let (element, producer, roomWaiter) = self.state.withLock { state in
      if case .take(let element, _) = state.peek(), isWanted(element),
        case .take(let element, let producer) = state.take()
      {
        return (Element?.some(element), producer, state.takeRoomWaiter())
      }
      return (nil, nil, nil)
    }
    producer?.resume(returning: [])
    roomWaiter?.resume()
    return element
  }

  private func element(takes: Bool) async -> Element? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (action, roomWaiter) = self.state.withLock { state in
          let action = takes ? state.take() : state.peek()
          if case .wait = action {
            state.suspendConsumer(.init(takes: takes, continuation: continuation))
          }
          return (action, state.takeRoomWaiter())
        }
        roomWaiter?.resume()
        switch action {
        case .take(let element, let producer):
          producer?.resume(returning: [])
          continuation.resume(returning: element)
        case .finish: continuation.resume(returning: nil)
        case .wait: break
        }
      }
    } onCancel: {
      self.finish()
    }
  }

  /// Whether an element fits without displacing another.
  var hasRoom: Bool { self.state.withLock { $0.hasRoom } }

  /// Whether the consumer waits for an element.
  package var isConsumerWaiting: Bool { self.state.withLock { $0.isConsumerWaiting } }

  /// Closes the mailbox: it returns later offers, and ``next()`` ends once it is empty.
  package func finish() {
    let (consumer, producer, roomWaiter) = self.state.withLock { state in
      let (consumer, producer) = state.finish()
      return (consumer, producer, state.takeRoomWaiter())
    }
    consumer?.resume(returning: nil)
    roomWaiter?.resume()
    if let producer {
      producer.continuation.resume(
        returning: [Displaced(element: producer.element, reason: .draining)])
    }
  }
}

/// The precedence of a frame in a full mailbox.
package struct EvictionPriority: Sendable, Hashable {
  /// The frame with the lowest priority is evicted first.
  package var priority: Int32
  /// Whether the frame is never evicted.
  package var mustStay: Bool

  package init(priority: Int32 = 0, mustStay: Bool = false) {
    self.priority = priority
    self.mustStay = mustStay
  }
}

extension Mailbox {
  /// An element that left the mailbox unused, and the reason.
  package struct Displaced: Sendable {
    package var element: Element
    package var reason: DropReason
  }

  /// The decisions of a mailbox. It returns actions and never waits itself.
  package struct StateMachine: ~Copyable {
    package typealias Producer = (
      element: Element, continuation: CheckedContinuation<[Displaced], Never>
    )

    /// A consumer that waits for an element.
    package struct Consumer {
      /// Whether it removes the element.
      package var takes: Bool
      package var continuation: CheckedContinuation<Element?, Never>
    }

    private let depth: Int
    private let policy: DropPolicy
    private let evictionPriority: @Sendable (Element) -> EvictionPriority
    private var elements: Deque<Element> = []
    private var consumer: Consumer?
    /// Whether the consumer has seen the first element and will take it. Unless the consumer is
    /// behind, the element does not count against the depth until then: without the wait the
    /// consumer would have removed it already.
    private var isFirstAwaited = false
    /// Whether an element was displaced since the last was taken.
    private var hasDisplaced = false
    /// Whether the consumer is slower than the producer: elements were displaced before or since
    /// the last take, or a newer one was left behind.
    private var isBehind = false
    private var producer: Producer?
    /// A producer that waits for room without an element.
    private var roomWaiter: CheckedContinuation<Void, Never>?
    private var isFinished = false

    package init(
      depth: Int, policy: DropPolicy,
      evictionPriority: @escaping @Sendable (Element) -> EvictionPriority = { _ in
        EvictionPriority()
      }
    ) {
      precondition(depth >= 1, "the depth of a mailbox must be at least 1")
      self.depth = depth
      self.policy = policy
      self.evictionPriority = evictionPriority
    }

    package enum OfferAction {
      /// The element is accepted; resume the consumer with it.
      case deliver(CheckedContinuation<Element?, Never>)
      /// The element is accepted.
      case accept
      /// Return the displaced elements, of which one may be the offered one.
      case reject([Displaced])
      /// The mailbox is full and may not drop elements: the producer waits.
      case wait
    }

    package mutating func offer(_ element: Element) -> OfferAction {
      guard !self.isFinished else {
        return .reject([Displaced(element: element, reason: .draining)])
      }
      if let consumer = self.consumer.take() {
        if !consumer.takes {
          self.elements.append(element)
          self.isFirstAwaited = true
        }
        return .deliver(consumer.continuation)
      }
      if self.hasRoom {
        self.elements.append(element)
        return .accept
      }
      guard self.policy != .neverDrop, let evicted = self.evictionCandidate(for: element) else {
        return .wait
      }
      guard evicted < self.elements.count else {
        // The offered element has the lowest priority.
        return .reject([Displaced(element: element, reason: .queueFull)])
      }
      let reason: DropReason = self.policy == .newestWins ? .superseded : .queueFull
      var displaced = [Displaced(element: self.elements.remove(at: evicted), reason: reason)]
      self.elements.append(element)
      if self.policy == .newestWins {
        self.hasDisplaced = true
        self.isBehind = true
        // The element that was awaited in addition, or the one after it.
        while self.elements.count > self.depth, let evicted = self.evictionCandidate() {
          let isNewest = evicted == self.elements.count - 1
          displaced.append(
            Displaced(
              element: self.elements.remove(at: evicted),
              reason: isNewest ? .queueFull : .superseded))
        }
      }
      return .reject(displaced)
    }

    /// Whether an element fits without displacing another. Also `true` for a finished mailbox,
    /// which returns it.
    package var hasRoom: Bool {
      self.isFinished
        || self.elements.count < self.depth + (self.isFirstAwaited && !self.isBehind ? 1 : 0)
    }

    /// Suspends the producer until the mailbox has room.
    package mutating func suspendForRoom(_ continuation: CheckedContinuation<Void, Never>) {
      self.roomWaiter = continuation
    }

    /// Returns the waiting producer to resume, if any, once the mailbox has room.
    package mutating func takeRoomWaiter() -> CheckedContinuation<Void, Never>? {
      self.hasRoom ? self.roomWaiter.take() : nil
    }

    /// Returns the index of the element to evict: the oldest or the newest element with the lowest
    /// priority, depending on the policy. The index after the last is the offered element. `nil` if
    /// all must stay.
    private func evictionCandidate(for offered: Element? = nil) -> Int? {
      let elements = Array(self.elements) + [offered].compactMap(\.self)
      let priorities = elements.map(self.evictionPriority)
      let droppable = priorities.indices.filter { !priorities[$0].mustStay }
      guard let lowest = droppable.map({ priorities[$0].priority }).min() else { return nil }
      let candidates = droppable.filter { priorities[$0].priority == lowest }
      return self.policy == .newestWins ? candidates.first : candidates.last
    }

    /// Suspends the producer. It resumes without an element once its own is accepted, or with
    /// its own if the mailbox closes first.
    package mutating func suspendProducer(
      _ element: Element, _ continuation: CheckedContinuation<[Displaced], Never>
    ) {
      self.producer = (element, continuation)
    }

    package enum TakeAction {
      /// The element, and the producer to resume if one waited for capacity.
      case take(Element, resume: CheckedContinuation<[Displaced], Never>?)
      /// The mailbox is empty: the consumer waits.
      case wait
      /// The mailbox is empty and finished.
      case finish
    }

    /// Returns the first element without removing it. A newer one may displace it before
    /// ``take()``.
    package mutating func peek() -> TakeAction {
      guard let element = self.elements.first else { return self.isFinished ? .finish : .wait }
      self.isFirstAwaited = true
      return .take(element, resume: nil)
    }

    /// Removes the first element.
    package mutating func take() -> TakeAction {
      self.isFirstAwaited = false
      if let element = self.elements.popFirst() {
        if self.policy == .newestWins {
          self.isBehind = self.hasDisplaced || self.elements.count >= self.depth
          self.hasDisplaced = false
        }
        guard let (waiting, continuation) = self.producer.take() else {
          return .take(element, resume: nil)
        }
        self.elements.append(waiting)
        return .take(element, resume: continuation)
      }
      return self.isFinished ? .finish : .wait
    }

    var isConsumerWaiting: Bool { self.consumer != nil }

    package mutating func suspendConsumer(_ consumer: Consumer) {
      self.consumer = consumer
    }

    /// Stops accepting elements. The consumer can still take the remaining elements.
    ///
    /// - Returns: The waiting tasks to resume: the consumer with `nil`, the producer with its
    ///   element.
    package mutating func finish() -> (
      consumer: CheckedContinuation<Element?, Never>?, producer: Producer?
    ) {
      self.isFinished = true
      return (self.consumer.take()?.continuation, self.producer.take())
    }
  }
}
