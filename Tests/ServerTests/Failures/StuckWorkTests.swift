import GRPCCore
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Sessions that end while a custom filter or analysis has not returned: they end without waiting
/// for it, and it doesn't hold a place.
@Suite(.timeLimit(.minutes(5))) struct StuckWorkTests {
  static let image = Sidelight_V1_Image.noise(.bgra8, 16, 8)

  /// A server with room for one session.
  static var configuration: ServerConfiguration {
    var configuration = ServerConfiguration()
    configuration.maxSessions = 1
    configuration.computeThreads = 2
    return configuration
  }

  /// A session that needs the place.
  static func expectService(of stub: Stub) async throws {
    let answers = try await stub.converse([.open([.filter("colorInvert")]), .frame(1, Self.image)])
    #expect(answers.finalStats?.filtered == 1)
  }

  @Test
  func `a client that closes its side gets its last outcome and the end of the call`() async throws
  {
    let clock = ManualClock()
    let gate = Gate()
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(gate.filter)
    try await withServer(
      Self.configuration, catalogue: catalogue, clock: clock.sessionClock
    ) { server, address in
      try await withStub(address) { stub in
        // A wait of this length means that the filter has taken too long.
        let session = Task {
          try await stub.converse([.open([.filter("gate")]), .frame(1, Self.image)])
        }
        for await _ in gate.entered { break }
        let answers = try await clock.ticking(by: .seconds(3)) { try await session.value }
        #expect(answers.frames.map(\.disposition) == [.passedThrough])
        #expect(answers.frames.first?.failure.message.contains("custom filter") == true)
        #expect(answers.finalStats?.passedThrough == 1)
        #expect(gate.entryCount == 1)
        #expect(server.sessionCount == 0)
        try await Self.expectService(of: stub)
        gate.open(for: 1)
        try await SessionLifetimeTests.expectNothingLeft(in: server)
      }
    }
  }

  @Test
  func `a client that disconnects while a filter is stuck makes its session available`()
    async throws
  {
    let gate = Gate()
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(gate.filter)
    try await withServer(Self.configuration, catalogue: catalogue) { server, address in
      try await withStub(address) { stub in
        await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask {
            try await stub.process { writer in
              try await writer.write(.open([.filter("gate")]))
              try await writer.write(.frame(1, Self.image))
              for await _ in AsyncStream<Never>.makeStream().stream {}
            } onResponse: { response in
              for try await _ in response.messages {}
            }
          }
          for await _ in gate.entered { break }
          group.cancelAll()
        }
        try await expectEventually("the place is free") { server.sessionCount == 0 }
        #expect(gate.entryCount == 1)
        try await Self.expectService(of: stub)
        gate.open(for: 1)
        try await SessionLifetimeTests.expectNothingLeft(in: server)
      }
    }
  }

  @Test func `a session ends although its analysis does not return`() async throws {
    let clock = ManualClock()
    let gate = Gate()
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(CustomFilter("stuck", "Waits.", analysis: HeldAnalysis(gate: gate)))
    try await withServer(
      Self.configuration, catalogue: catalogue, clock: clock.sessionClock
    ) { server, address in
      try await withStub(address) { stub in
        let answers = try await withThrowingTaskGroup { group in
          group.addTask {
            try await stub.converse([.open([.filter("stuck")]), .frame(1, Self.image)])
          }
          for await _ in gate.entered { break }
          return try await clock.ticking(by: .seconds(3)) { try #require(await group.next()) }
        }
        #expect(answers.finalStats?.passedThrough == 1)
        #expect(answers.errors.count == 1)
        #expect(gate.entryCount == 1)
        #expect(server.sessionCount == 0)
        try await Self.expectService(of: stub)
        gate.open(for: 1)
      }
    }
  }

  /// Waits in a gate, even when its task is cancelled.
  struct HeldAnalysis: FrameAnalysis {
    let everyNth = 1
    let gate: Gate

    func analyze(_ frame: Frame, at time: FrameTime) -> [String: AnalysisValue] {
      self.gate.hold()
      return [:]
    }
  }
}
