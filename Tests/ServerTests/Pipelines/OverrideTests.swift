import GRPCCore
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Tests of the view that operators have of sessions, and of their overrides.
@Suite(.timeLimit(.minutes(5))) struct OverrideTests {
  static let image = Sidelight_V1_Image.noise(.i420, 32, 24)

  struct Broken: Error {}

  static var catalogue: FilterCatalogue {
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(CustomFilter("broken", "Throws.", frame: { _, _, _ in throw Broken() }))
    return catalogue
  }

  /// One session, from its client's side and from an operator's. Used by one task.
  final class Conversation {
    let operators: Operators
    let clock: ManualClock
    let id: String
    private let writer: RPCWriter<Sidelight_V1_ClientMessage>
    private let answers: AsyncStream<Sidelight_V1_ServerMessage>

    init(
      operators: Operators, clock: ManualClock, id: String,
      writer: RPCWriter<Sidelight_V1_ClientMessage>,
      answers: AsyncStream<Sidelight_V1_ServerMessage>
    ) {
      self.operators = operators
      self.clock = clock
      self.id = id
      self.writer = writer
      self.answers = answers
    }

    /// Sends messages. Returns the server's messages until the outcome of the last frame.
    func send(
      _ messages: Sidelight_V1_ClientMessage...
    ) async throws -> [Sidelight_V1_ServerMessage] {
      var received: [Sidelight_V1_ServerMessage] = []
      for message in messages {
        try await self.writer.write(message)
        guard case .frame? = message.kind else { continue }
        for await answer in self.answers {
          received.append(answer)
          if case .frame? = answer.kind { break }
          if case .dropped? = answer.kind { break }
        }
      }
      return received
    }

    /// Forces a pipeline on the session for ten seconds.
    func override(with pipeline: Pipeline, reason: String = "") async throws -> UInt64 {
      try await self.operators.overrideSession(
        .with {
          $0.sessionID = self.id
          $0.pipeline = Sidelight_V1_Pipeline(pipeline)
          $0.timeToLive.seconds = 10
          $0.reason = reason
        }
      ).revision
    }
  }

  /// Runs a session of a server whose clock is the test's.
  static func withSession(
    _ open: Sidelight_V1_ClientMessage,
    _ script: @escaping @Sendable (Conversation) async throws -> Void
  ) async throws {
    let clock = ManualClock()
    try await withServer(catalogue: Self.catalogue, clock: clock.sessionClock) { _, address in
      try await withOperators(address) { operators in
        try await withStub(address) { stub in
          let (received, continuation) = AsyncStream<Sidelight_V1_ServerMessage>.makeStream()
          try await stub.process { writer in
            try await writer.write(open)
            guard let first = await received.first(where: { _ in true }) else { return }
            try await script(
              Conversation(
                operators: operators, clock: clock, id: first.opened.sessionID, writer: writer,
                answers: received))
          } onResponse: { response in
            for try await message in response.messages { continuation.yield(message) }
            continuation.finish()
          }
        }
      }
    }
  }

  @Test func `sessions are listed with their active pipeline and their counts`() async throws {
    try await Self.withSession(
      .open([.filter("sepiaTone", ["intensity": .number(0.5)])]) { $0.label = "alice" }
    ) { session in
      _ = try await session.send(.frame(1, Self.image), .frame(2, Self.image))
      let sessions = try await session.operators.listSessions(.init()).sessions
      let info = try #require(sessions.first)
      #expect(sessions.count == 1)
      #expect(info.sessionID == session.id)
      #expect(info.label == "alice")
      #expect(info.state == .running)
      #expect(info.pipeline == "sepiaTone(intensity: 0.5)")
      #expect(info.width == 32)
      #expect(info.height == 24)
      #expect(info.format == .i420)
      #expect(info.stats.received == 2)
      #expect(info.stats.outcomes == 2)
    }
  }

  @Test
  func
    `an override applies immediately, is reported, and ends with the participant's latest pipeline`()
    async throws
  {
    try await Self.withSession(.open([.filter("sepiaTone")])) { session in
      _ = try await session.send(.frame(1, Self.image))
      let revision = try await session.override(
        with: [.filter("gaussianBlur")], reason: "privacy")
      #expect(revision == 2)
      let during = try await session.send(
        .select([.filter("colorInvert")], requestID: 9), .frame(2, Self.image))
      #expect(during.states == [.overridden])
      #expect(during.frames.map(\.revision) == [3])
      #expect(during.applied.map(\.requestID) == [0])
      let listed = try await session.operators.listSessions(.init()).sessions.first
      #expect(listed?.pipeline == "gaussianBlur")
      #expect(listed?.overrideReason == "privacy")
      session.clock.advance(by: .seconds(11))
      let after = try await session.send(.frame(3, Self.image))
      #expect(after.states == [.running])
      #expect(after.applied.map(\.requestID) == [9])
      #expect(after.frames.map(\.revision) == [4])
    }
  }

  @Test func `an operator ends an override before its time`() async throws {
    try await Self.withSession(.open()) { session in
      _ = try await session.override(with: [.filter("colorInvert")])
      let during = try await session.send(.frame(1, Self.image))
      #expect(during.frames.map(\.disposition) == [.filtered])
      _ = try await session.operators.overrideSession(.with { $0.sessionID = session.id })
      let after = try await session.send(.frame(2, Self.image))
      #expect(after.frames.map(\.disposition) == [.passedThrough])
    }
  }

  @Test
  func `under an override no frame returns unfiltered, neither after a failure nor during a pause`()
    async throws
  {
    try await Self.withSession(.open([.filter("sepiaTone")])) { session in
      _ = try await session.override(with: [.filter("broken")])
      let failed = try await session.send(.frame(1, Self.image))
      #expect(failed.frames.map(\.disposition) == [.degraded])
      #expect(failed.frames.first?.image.inline != Self.image.inline)
      let paused = try await session.send(
        .with { $0.pause.passThrough = true }, .frame(2, Self.image))
      #expect(paused.frames.map(\.disposition) == [.degraded])
      #expect(paused.frames.first?.image.inline != Self.image.inline)
    }
  }

  @Test
  func `a frame that is being filtered when an override begins is not sent with the old pipeline`()
    async throws
  {
    let gate = Gate()
    let answers = Answers()
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(gate.filter)
    // However busy the machine is, the gate must not count as stuck.
    var configuration = ServerConfiguration()
    configuration.customFilterTimeout = .seconds(3600)
    try await withServer(configuration, catalogue: catalogue) { _, address in
      try await withOperators(address) { operators in
        try await withStub(address) { stub in
          try await stub.process { writer in
            try await writer.write(.open([.filter("gate")]))
            try await writer.write(.frame(1, Self.image))
            for await _ in gate.entered { break }
            let id = try await operators.listSessions(.init()).sessions.first?.sessionID ?? ""
            _ = try await operators.overrideSession(
              .with {
                $0.sessionID = id
                $0.pipeline = Sidelight_V1_Pipeline([.filter("gaussianBlur")])
                $0.timeToLive.seconds = 3600
              })
            gate.open(for: 1)
            try await writer.write(.frame(2, Self.image))
          } onResponse: { response in
            for try await message in response.messages { answers.add(message) }
          }
        }
      }
    }
    #expect(answers.messages.drops.map(\.firstSequence) == [1])
    #expect(answers.messages.drops.map(\.reason) == [.superseded])
    #expect(answers.messages.frames.map(\.sequence) == [2])
    #expect(answers.messages.finalStats?.outcomes == 2)
  }

  @Test func `an invalid override is refused with the invalid field`() async throws {
    try await Self.withSession(.open()) { session in
      let requests: [(Sidelight_V1_OverrideSessionRequest, RPCError.Code, String)] = [
        (.with { $0.sessionID = "nobody" }, .notFound, "session_id"),
        (
          .with {
            $0.sessionID = session.id
            $0.pipeline = Sidelight_V1_Pipeline([.filter("sepiaTone")])
          }, .invalidArgument, "time_to_live"
        ),
        (
          .with {
            $0.sessionID = session.id
            $0.pipeline = Sidelight_V1_Pipeline([.filter("nope")])
            $0.timeToLive.seconds = 5
          }, .invalidArgument, "pipeline.stages[0].filter.name"
        ),
        (
          .with {
            $0.sessionID = session.id
            $0.pipeline = .init()
            $0.timeToLive.seconds = 5
            $0.reason = String(repeating: "x", count: 257)
          }, .invalidArgument, "reason"
        ),
      ]
      for (request, code, field) in requests {
        let error = await #expect(throws: RPCError.self) {
          try await session.operators.overrideSession(request)
        }
        #expect(error?.code == code)
        #expect(error?.message.contains(field) == true)
      }
    }
  }

  @Test func `watching one session reports its counts until it ends`() async throws {
    try await withServer { _, address in
      try await withOperators(address) { operators in
        try await withStub(address) { stub in
          let (ends, end) = AsyncStream<Never>.makeStream()
          try await stub.process { writer in
            try await writer.write(.open())
            try await writer.write(.frame(1, Self.image))
            for await _ in ends {}
          } onResponse: { response in
            for try await message in response.messages {
              guard case .frame? = message.kind else { continue }
              let id = try await operators.listSessions(.init()).sessions.first?.sessionID ?? ""
              try await operators.watchSessions(
                .with {
                  $0.sessionID = id
                  $0.interval.nanos = 100_000_000
                }
              ) { watched in
                var count = 0
                for try await update in watched.messages {
                  #expect(update.sessions.map(\.sessionID) == [id])
                  #expect(update.sessions.first?.stats.received == 1)
                  count += 1
                  if count == 2 { end.finish() }
                }
                #expect(count >= 2)
              }
            }
          }
        }
      }
    }
  }
}
