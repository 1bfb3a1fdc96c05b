import GRPCCore
import GRPCNIOTransportHTTP2Posix
import GRPCProtobuf
import SidelightClient
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Connections on which nothing arrives any more while frames are in flight.
@Suite(.timeLimit(.minutes(5))) struct ClientStallTests {
  /// Answers the first frame of a session, and pings if it is only busy.
  struct StallingService: RegistrableRPCService {
    var answersPings = false
    /// Has an element for each frame after the first, and for each ping.
    let heard: AsyncStream<Void>.Continuation

    func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
      router.registerHandler(
        forMethod: Sidelight_V1_FrameFilter.Method.Process.descriptor,
        deserializer: ProtobufDeserializer<Sidelight_V1_ClientMessage>(),
        serializer: ProtobufSerializer<Sidelight_V1_ServerMessage>(),
        handler: { request, context in
          StreamingServerResponse { writer in
            try await writer.write(.with { $0.opened.framesInFlight = 4 })
            for try await message in request.messages {
              switch message.kind {
              case .frame(let frame)? where frame.sequence == 1:
                try await writer.write(
                  .with {
                    $0.frame.sequence = 1
                    $0.frame.unmodified = true
                  })
              case .frame?: self.heard.yield()
              case .ping(let ping)?:
                if self.answersPings { try await writer.write(.with { $0.pong.id = ping.id }) }
                self.heard.yield()
              default: break
              }
            }
            return [:]
          }
        })
    }
  }

  /// The interval at which connections are checked: an eighth of the limit.
  static let interval = Duration.milliseconds(125)

  /// Runs a session that starts at a stalling server, with another one as the second address. Its
  /// first frame has come back, and its second one has arrived.
  static func withSession(
    answersPings: Bool = false, dropPolicy: SessionOptions.DropPolicy = .newestWins,
    _ body:
      @Sendable (
        _ session: FilterSession, inout ReceivedEvents, ClientTestClock,
        _ heard: AsyncStream<Void>, _ other: Address
      ) async throws -> Void
  ) async throws {
    let (stream, heard) = AsyncStream<Void>.makeStream()
    let clock = ClientTestClock()
    let shot = try picture()
    let stalling = GRPCServer(
      transport: HTTP2ServerTransport.Posix(
        address: .ipv4(host: "127.0.0.1", port: 0), transportSecurity: .plaintext),
      services: [StallingService(answersPings: answersPings, heard: heard)])
    try await withServer { _, other in
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try? await stalling.serve() }
        let port = try #require(try await stalling.transport.listeningAddress.ipv4?.port)
        let options = SessionOptions(dropPolicy: dropPolicy, reconnect: ReconnectPolicy())
        try await clock.withSession(
          at: [.tcp(host: "127.0.0.1", port: port), other], options
        ) { session in
          var received = ReceivedEvents(session)
          await session.send(VideoFrame(shot))
          #expect(try await received.filtered()?.sequence == 1)
          await session.send(VideoFrame(shot))
          for await _ in stream { break }
          try await body(session, &received, clock, stream, other)
        }
        group.cancelAll()
      }
    }
  }

  @Test func `a connection that hangs for a second is replaced, and its frame is lost`()
    async throws
  {
    try await Self.withSession { session, received, clock, _, other in
      for _ in 0 ..< 8 { await clock.pass(Self.interval) }
      #expect(try await received.dropped()?.reason == .connectionLost)
      await clock.pass(try #require(try await received.interrupted()))
      #expect(try await received.restored()?.address == other)
      await session.send(VideoFrame(try picture()))
      #expect(try await received.filtered()?.sequence == 3)
    }
  }

  /// Ends a session whose frame has no outcome.
  struct EndOfTest: Error {}

  @Test func `a server that answers pings is only busy`() async throws {
    await #expect(throws: EndOfTest.self) {
      try await Self.withSession(answersPings: true) { session, _, clock, heard, _ in
        for _ in 0 ..< 4 {
          for _ in 0 ..< 4 { await clock.pass(Self.interval) }
          // The ping of half a second has arrived, and its answer arrives before this one's.
          for await _ in heard { break }
          _ = try await session.ping()
          for await _ in heard { break }
        }
        #expect(session.counts.dropped.isEmpty)
        throw EndOfTest()
      }
    }
  }
}
