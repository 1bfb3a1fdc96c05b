import SidelightClient
import SidelightTestSupport

/// The events of a session, as one task receives them.
struct ReceivedEvents {
  private var iterator: any AsyncIteratorProtocol<SessionEvent, any Error>
  /// The numbers of the frames whose outcome was reported.
  private(set) var outcomes: [UInt64] = []

  init(_ session: FilterSession) {
    self.iterator = session.events.makeAsyncIterator()
  }

  /// Returns the next event for which `select` returns a value. `nil` at the end.
  mutating func next<Result>(
    _ select: (SessionEvent) -> Result?
  ) async throws -> Result? {
    while let event = try await self.iterator.next(isolation: nil) {
      if case .outcome(let outcome) = event { self.outcomes.append(outcome.sequence) }
      if let result = select(event) { return result }
    }
    return nil
  }

  mutating func outcome() async throws -> FrameOutcome? {
    try await self.next { if case .outcome(let outcome) = $0 { outcome } else { nil } }
  }

  mutating func filtered() async throws -> FilteredFrame? {
    try await self.next { if case .outcome(.filtered(let frame)) = $0 { frame } else { nil } }
  }

  mutating func dropped() async throws -> DroppedFrame? {
    try await self.next { if case .outcome(.dropped(let frame)) = $0 { frame } else { nil } }
  }

  mutating func state() async throws -> SessionState? {
    try await self.next { if case .state(let state) = $0 { state } else { nil } }
  }

  mutating func accepted() async throws -> AcceptedChange? {
    try await self.next { if case .accepted(let change) = $0 { change } else { nil } }
  }

  mutating func applied() async throws -> AppliedChange? {
    try await self.next { if case .applied(let change) = $0 { change } else { nil } }
  }

  mutating func rejected() async throws -> RejectedChange? {
    try await self.next { if case .rejected(let change) = $0 { change } else { nil } }
  }

  /// The wait before the next attempt to connect.
  mutating func interrupted() async throws -> Duration? {
    try await self.next {
      if case .connection(.interrupted(_, _, let delay)) = $0 { delay } else { nil }
    }
  }

  /// The address at which the session continues, and whether its state was restored.
  mutating func restored() async throws -> (address: Address, isResumed: Bool)? {
    try await self.next {
      if case .connection(.restored(let address, let isResumed)) = $0 {
        (address, isResumed)
      } else {
        nil
      }
    }
  }

  /// Takes the rest.
  ///
  /// - Throws: The error that ended the session.
  mutating func drain() async throws {
    while try await self.next({ _ in nil as Never? }) != nil {}
  }
}

extension OutcomeCounts {
  /// The frames that have an outcome.
  var decided: UInt64 {
    self.filtered + self.passedThrough + self.degraded + self.dropped.values.reduce(0, +)
  }
}

extension VideoPicture {
  /// The samples, or the file, to be compared.
  var bytes: [UInt8] { self.frame?.bytes ?? self.jpeg ?? [] }
}
