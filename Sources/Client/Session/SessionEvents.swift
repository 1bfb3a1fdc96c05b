/// The events of a session, as its flow tells them.
struct SessionEvents: AsyncSequence, Sendable {
  typealias Element = SessionEvent
  typealias Failure = any Error

  let flow: SessionFlow

  struct Iterator: AsyncIteratorProtocol {
    let flow: SessionFlow

    mutating func next() async throws -> SessionEvent? {
      try await self.flow.nextEvent()
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(flow: self.flow) }
}
