import GRPCCore
import NIOCore
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Synchronization
import Testing
import Tracing

/// Clients that send thousands of small messages. Regardless of their messages, the event loop
/// serves its other connections, the session's memory is bounded, and a cancelled session stops at
/// once.
@Suite(.timeLimit(.minutes(5)), .serialized) struct ControlFloodTests {
  static let pixel = Sidelight_V1_Image.with {
    $0.format = .gray8
    $0.width = 1
    $0.height = 1
    $0.inline = .init([0])
  }

  /// A tracer that counts frames, and records their number when another call began.
  final class FrameCounter: Tracer {
    private let state = Mutex<(frames: Int, framesBeforeInfo: Int?)>((0, nil))
    /// Ticks when some frames have arrived: a pipeline was compiled for the first, on another
    /// thread.
    let started: AsyncStream<Void>
    private let begin: AsyncStream<Void>.Continuation

    init() {
      (self.started, self.begin) = AsyncStream.makeStream()
    }

    var frames: Int { self.state.withLock { $0.frames } }
    var framesBeforeInfo: Int? { self.state.withLock { $0.framesBeforeInfo } }

    func startSpan<Instant: TracerInstant>(
      _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
      at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> NoOpTracer.NoOpSpan {
      self.note(operationName)
      return NoOpTracer().startSpan(
        operationName, context: context(), ofKind: kind, at: instant(), function: function,
        file: fileID, line: line)
    }

    private func note(_ operationName: String) {
      let hasStarted = self.state.withLock { state in
        if operationName == "sidelight.frame" {
          state.frames += 1
          return state.frames == 100
        }
        if operationName.hasSuffix("GetServerInfo") { state.framesBeforeInfo = state.frames }
        return false
      }
      if hasStarted { self.begin.yield() }
    }

    func forceFlush() {}
    func inject<Carrier, Inject: Injector>(
      _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {}
    func extract<Carrier, Extract: Extractor>(
      _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {}
  }

  /// Holds callers back until the test lets them in.
  struct ToggleAuthenticator: Authenticator {
    let isOpen: AsyncStream<Never>

    func authenticate(
      token: String, at now: Duration
    ) async throws(AuthenticationFailure) -> Principal {
      if token == "held" { for await _ in self.isOpen {} }
      return Principal(name: "sub:\(token)@test", scopes: .participant)
    }
  }

  /// Consecutive messages in gRPC's framing.
  static func framed(_ messages: [Sidelight_V1_ClientMessage]) throws -> ByteBuffer {
    var bytes = ByteBuffer()
    for message in messages {
      bytes.writeImmutableBuffer(RawPeer.message(try message.serializedBytes()))
    }
    return bytes
  }

  /// Sends bytes in DATA frames of 16 KiB.
  static func send(_ bytes: ByteBuffer, on peer: RawPeer) {
    var rest = bytes
    while let piece = rest.readSlice(length: min(rest.readableBytes, 16 << 10)),
      piece.readableBytes > 0
    {
      peer.data(piece)
    }
  }

  /// - Returns: The share of a flood that was handled before another connection of the loop was
  ///   served.
  static func shareBeforeOthers(guards: Set<Guard>) async throws -> Double {
    let count = 100_000
    let flood = try Self.framed(
      [.open(policy: .newestWins)] + (1 ... UInt64(count)).map { .frame($0, Self.pixel) })
    var configuration = ServerConfiguration()
    configuration.transport.eventLoops = 1
    configuration.transport.streamWindowBytes = 16 << 20
    configuration.guards.active = guards
    let (isOpen, door) = AsyncStream<Never>.makeStream()
    let counter = FrameCounter()
    return try await withServer(
      configuration, authenticator: ToggleAuthenticator(isOpen: isOpen), tracer: counter
    ) { _, address in
      try await withRawPeer(address) { flooder in
        try await withRawPeer(address) { other in
          other.send(RawPeer.preface)
          flooder.send(RawPeer.preface)
          // The server announces the windows of connection and stream before it answers.
          flooder.ping()
          _ = await flooder.next(where: \.isPingAnswer)
          flooder.call(Attack.process, headers: [("authorization", "Bearer held")])
          Self.send(flood, on: flooder)
          flooder.ping()
          _ = await flooder.next(where: \.isPingAnswer)
          // All of it has arrived, but was not handled yet.
          #expect(counter.frames == 0)
          door.finish()
          for await _ in counter.started { break }
          other.call(Attack.info, headers: [("authorization", "Bearer other")])
          other.data(RawPeer.message([]), isEnd: true)
          #expect(await other.status() == 0)
          return Double(try #require(counter.framesBeforeInfo)) / Double(count)
        }
      }
    }
  }

  @Test
  func `an event loop serves other connections during a flood only because of the guard`()
    async throws
  {
    let all = Set(Guard.allCases)
    #expect(try await Self.shareBeforeOthers(guards: all) < 0.9)
    #expect(try await Self.shareBeforeOthers(guards: all.subtracting([.messageBatches])) > 0.9)
  }

  @Test func `a cancelled session handles none of the messages that have arrived`() async throws {
    let gate = Gate()
    let counter = FrameCounter()
    var configuration = ServerConfiguration()
    configuration.transport.eventLoops = 1
    // One batch would bound it too.
    configuration.guards.active.remove(.messageBatches)
    try await withServer(configuration, catalogue: gate.catalogue, tracer: counter) {
      server, address in
      try await withRawPeer(address) { peer in
        peer.send(RawPeer.preface)
        peer.ping()
        _ = await peer.next(where: \.isPingAnswer)
        peer.call(Attack.process)
        // The first frame holds the worker, the third the reader.
        Self.send(
          try Self.framed(
            [.open([.filter("gate")])] + (1 ... 300).map { .frame($0, Self.pixel) }), on: peer)
        for await _ in gate.entered { break }
        try await expectEventually("the reader waits") { counter.frames >= 3 }
        peer.send(RawPeer.frame(3, flags: 0, stream: 1, ByteBuffer(integer: UInt32(8))))
        // The answer tells that the reset was read.
        peer.ping()
        _ = await peer.next(where: \.isPingAnswer)
        gate.open(for: 300)
        try await expectEventually("the session has ended") { server.sessionCount == 0 }
        #expect(counter.frames < 10)
      }
    }
  }

  @Test func `control messages beyond the rate wait for it`() async throws {
    let clock = ManualClock()
    let pongs = Atomic(0)
    try await withServer(clock: clock.sessionClock) { _, address in
      try await withStub(address) { stub in
        try await stub.process { writer in
          try await writer.write(.open())
          for id in 0 ..< UInt64(ContractLimits.controlUnitsPerSecond + 100) {
            try await writer.write(.with { $0.ping.id = id })
          }
          await clock.awaited(within: .seconds(1))
          #expect(pongs.load(ordering: .relaxed) <= ContractLimits.controlUnitsPerSecond)
          await clock.ticking(by: .seconds(1)) {
            try? await expectEventually("all are answered") {
              pongs.load(ordering: .relaxed) == ContractLimits.controlUnitsPerSecond + 100
            }
          }
        } onResponse: { response in
          for try await message in response.messages {
            if case .pong? = message.kind { pongs.add(1, ordering: .relaxed) }
          }
        }
      }
    }
  }

  @Test
  func `for a client that does not read, one state message reports all changes`() async throws {
    try await withServer { _, address in
      try await withConnection(address) { client in
        let operators = Sidelight_V1_Sessions.Client(wrapping: client)
        let states = try await withRawPeer(address) { peer in
          // An empty window for the server's data.
          var settings = ByteBuffer()
          settings.writeMultipleIntegers(UInt16(4), UInt32(0))
          peer.send(ByteBuffer(string: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
          peer.send(RawPeer.frame(4, flags: 0, stream: 0, settings))
          peer.call(Attack.process)
          var messages: [Sidelight_V1_ClientMessage] = [.open([.filter("sepiaTone")])]
          for _ in 0 ..< 100 {
            messages.append(.with { $0.pause = .init() })
            messages.append(.with { $0.resume = .init() })
          }
          messages.append(.select([.filter("grayscale")]))
          Self.send(try Self.framed(messages), on: peer)
          try await expectEventually("the last message was handled") {
            try await operators.listSessions(.init()).sessions.first?.revision == 2
          }
          peer.data(ByteBuffer(), isEnd: true)
          peer.send(RawPeer.frame(8, flags: 0, stream: 1, ByteBuffer(integer: UInt32(1 << 30))))
          var bytes = ByteBuffer()
          while let frame = await peer.next(where: { $0.stream == 1 }), frame.status == nil {
            if frame.isData { bytes.writeImmutableBuffer(frame.payload) }
          }
          var states = 0
          while let length = bytes.getInteger(at: bytes.readerIndex + 1, as: UInt32.self) {
            bytes.moveReaderIndex(forwardBy: 5)
            let message = try Sidelight_V1_ServerMessage(
              serializedBytes: bytes.readBytes(length: Int(length)) ?? [])
            if case .state? = message.kind { states += 1 }
          }
          return states
        }
        // The transport takes some states before its window is used up; one more waits.
        #expect((1 ... 20).contains(states))
      }
    }
  }

  @Test(arguments: [false, true])
  func `a message with more than 1 MiB besides its pixels is refused`(isFrame: Bool) async throws {
    try await withServer { _, address in
      try await withStub(address) { stub in
        let error = await #expect(throws: RPCError.self) {
          var message = Sidelight_V1_ClientMessage.select([])
          let long = String(repeating: "a", count: 1_100_000)
          if isFrame {
            message = .frame(1, Self.pixel) { $0.trace.tracestate = long }
          } else {
            message.select.pipeline.stages = [.with { $0.id = long }]
          }
          _ = try await stub.converse([.open(), message])
        }
        #expect(error?.code == .resourceExhausted)
        #expect(error?.message.contains("max_control_message_bytes") == true)
      }
    }
  }
}
