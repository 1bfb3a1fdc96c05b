/// The events of a session, as its ledger tells them.
struct SessionEvents: AsyncSequence, Sendable {
  typealias Element = SessionEvent
  typealias Failure = any Error

  let session: FilterSession

  struct Iterator: AsyncIteratorProtocol {
    let session: FilterSession

    mutating func next() async throws -> SessionEvent? {
      switch try await self.session.ledger.next() {
      case .event(let event, let isCredit)?:
        if isCredit { self.session.returnCredit() }
        return event
      case .displaced(let sequence)?:
        return .outcome(
          .dropped(DroppedFrame(sequence: sequence, reason: .supersededBeforeSending)))
      case nil: return nil
      }
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(session: self.session) }
}
