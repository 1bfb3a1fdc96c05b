import GRPCCore
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Clients that leave while a frame is being filtered. The server gives back everything that it
/// held for them, and serves the next client. (`Tests/Python` kills a client's process.)
@Suite(.timeLimit(.minutes(5)), .serialized) struct SessionLifetimeTests {
  enum Disconnection: CaseIterable {
    /// The task that made the call is cancelled.
    case cancel
    /// The client stops sending with an error, which resets the stream.
    case reset
    /// The client stops reading with an error.
    case lostInterest
    /// The call reaches its deadline.
    case deadline
  }

  enum Work: CaseIterable {
    /// A filter that does not return until the test lets it.
    case heldFilter
    /// Many passes of a built-in filter, frame after frame for as long as the client sends.
    case manyPasses
  }

  struct Departed: Error {}

  static let longPipeline = Pipeline(
    stages: (0 ..< 64).map { .filter("gaussianBlur", ["radius": .number(4 + Double($0) / 8)]) })
  static let image = Sidelight_V1_Image.noise(.rgb24, 960, 540)

  static var configuration: ServerConfiguration {
    var configuration = ServerConfiguration()
    configuration.framesInFlight = 16
    return configuration
  }

  static func expectNothingLeft(in server: SidelightServer) async throws {
    try await expectEventually("the session has ended and its frames are released") {
      server.sessionCount == 0 && server.poolStatistics.bytesInUse == 0
    }
  }

  static func expectService(of stub: Stub) async throws {
    let answers = try await stub.converse([
      .open([.filter("colorInvert")]), .frame(1, .noise(.bgra8, 8, 8)),
    ])
    #expect(answers.finalStats?.filtered == 1)
  }

  @Test(
    arguments: Disconnection.allCases, Work.allCases)
  func `a client that disconnects while a frame is filtered leaves no resources in use`(
    _ disconnection: Disconnection, _ work: Work
  ) async throws {
    // A deadline can pass before the first frame arrives. Then a later one is tried.
    var timeout = Duration.seconds(1)
    while try await !self.leave(disconnection, work, timeout: timeout) {
      try #require(disconnection == .deadline && timeout < .seconds(60))
      timeout *= 2
    }
  }

  /// Lets a client leave a server while a frame is being filtered.
  ///
  /// - Parameter timeout: The time from the begin of the call to its deadline.
  /// - Returns: `false` if the call ended before a frame was being filtered.
  private func leave(_ disconnection: Disconnection, _ work: Work, timeout: Duration) async throws
    -> Bool
  {
    let gate = Gate()
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(gate.filter)
    return try await withServer(Self.configuration, catalogue: catalogue) { server, address in
      // A frame that comes late to the gate must not hold up the end of the server.
      defer { gate.open(for: 1000) }
      return try await withStub(address) { stub in
        let disconnecting = Event()
        let ended = Event()
        return try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask {
            defer { ended.happen() }
            try? await Self.call(stub, disconnection, work, timeout: timeout, when: disconnecting)
          }
          var isFiltering: Bool {
            switch work {
            case .heldFilter: gate.entryCount > 0
            case .manyPasses: server.poolStatistics.bytesInUse > 0
            }
          }
          try await expectEventually("a frame is being filtered, or the call has ended") {
            isFiltering || ended.hasHappened
          }
          guard isFiltering else { return false }
          if disconnection == .cancel { group.cancelAll() }
          disconnecting.happen()
          if work == .heldFilter {
            // The filter has not returned: the session ends because its client has left.
            try await expectEventually("the session has ended") { server.sessionCount == 0 }
            gate.open(for: 1)
          }
          try await Self.expectNothingLeft(in: server)
          if work == .heldFilter { #expect(gate.entryCount == 1) }
          try await Self.expectService(of: stub)
          return true
        }
      }
    }
  }

  private static func call(
    _ stub: Stub, _ disconnection: Disconnection, _ work: Work, timeout: Duration,
    when disconnecting: Event
  ) async throws {
    var options = largeMessages
    if disconnection == .deadline { options.timeout = timeout }
    let pipeline = work == .heldFilter ? [.filter("gate")] : Self.longPipeline
    try await stub.process(options: options) { writer in
      try await writer.write(.open(pipeline) { $0.mailboxDepth = 16 })
      var sequence: UInt64 = 1
      while !disconnecting.hasHappened, work == .manyPasses || sequence <= 8 {
        // The server reads no more frames than it has room for, so this waits.
        try await writer.write(.frame(sequence, Self.image))
        sequence += 1
      }
      if disconnection == .reset {
        await disconnecting.wait()
        throw Departed()
      }
      // The client does not close its side.
      await Event().wait()
    } onResponse: { response in
      if disconnection == .lostInterest {
        await disconnecting.wait()
        throw Departed()
      }
      for try await _ in response.messages {}
    }
  }

  @Test
  func `a client that closes its side while frames are filtered gets every outcome`() async throws {
    try await withServer(Self.configuration) { server, address in
      try await withStub(address) { stub in
        let answers = try await stub.converse(
          [.open([.filter("gaussianBlur")])] + (1 ... 8).map { .frame($0, Self.image) })
        #expect(answers.frames.map(\.sequence) == Array(1 ... 8))
        #expect(answers.finalStats?.outcomes == 8)
        try await Self.expectNothingLeft(in: server)
        try await Self.expectService(of: stub)
      }
    }
  }

  @Test
  func `a client that closes its side with a closed window still gets every outcome`() async throws
  {
    try await withServer(Self.configuration) { server, address in
      try await withStub(address) { stub in
        for policy: Sidelight_V1_DropPolicy in [.neverDrop, .keepOldest] {
          let answers = try await stub.converse(
            [
              .open([.filter("colorInvert")], policy: policy) {
                $0.outputWindow = 1
                $0.mailboxDepth = 8
              }
            ] + (1 ... 8).map { .frame($0, .noise(.gray8, 4, 4)) })
          #expect(answers.frames.map(\.sequence) == Array(1 ... 8))
        }
        try await Self.expectNothingLeft(in: server)
      }
    }
  }

  @Test
  func `the server always reads the acknowledgements of a client within its credit and window`()
    async throws
  {
    let image = Sidelight_V1_Image.noise(.gray8, 4, 4)
    try await withServer(Self.configuration) { _, address in
      try await withStub(address) { stub in
        for policy: Sidelight_V1_DropPolicy in [.newestWins, .keepOldest, .neverDrop] {
          let acknowledged = AsyncStream<UInt64>.makeStream()
          let answers = Answers()
          try await stub.process { writer in
            try await writer.write(.open(policy: policy) { $0.outputWindow = 1 })
            // All the credit at once; acknowledged frames come after them.
            for sequence: UInt64 in 1 ... 16 {
              try await writer.write(.frame(sequence, image) { $0.mustProcess = true })
            }
            for await sequence in acknowledged.stream {
              try await writer.write(.with { $0.ack.sequence = sequence })
            }
          } onResponse: { response in
            for try await message in response.messages {
              answers.add(message)
              guard case .frame(let frame)? = message.kind else { continue }
              acknowledged.continuation.yield(frame.sequence)
              if frame.sequence == 16 { acknowledged.continuation.finish() }
            }
          }
          #expect(answers.messages.frames.map(\.sequence) == Array(1 ... 16), "\(policy)")
        }
      }
    }
  }
}
