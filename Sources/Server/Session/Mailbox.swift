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
