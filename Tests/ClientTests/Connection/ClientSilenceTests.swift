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

/// Servers that take a call and stay silent, or become silent: lost packets don't cause an error.
@Suite(.timeLimit(.minutes(5))) struct ClientSilenceTests {
  /// Takes sessions, and is silent from the start or from their opening on.
  struct SilentService: RegistrableRPCService {
    let opens: Bool
    /// Ends when a frame has arrived or, if sessions are not opened, when `open` has.
    let heard: AsyncStream<Never>.Continuation

    func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
      router.registerHandler(
        forMethod: Sidelight_V1_FrameFilter.Method.Process.descriptor,
        deserializer: ProtobufDeserializer<Sidelight_V1_ClientMessage>(),
        serializer: ProtobufSerializer<Sidelight_V1_ServerMessage>(),
        handler: { request, context in
          StreamingServerResponse { writer in
            if self.opens { try await writer.write(.with { $0.opened.framesInFlight = 4 }) }
            for try await message in request.messages {
              switch message.kind {
              case .frame?: self.heard.finish()
              case .open? where !self.opens: self.heard.finish()
              default: break
              }
            }
            return [:]
          }
        })
    }
  }

  /// A silent server, and one that answers.
  static func withServers(
    opens: Bool, _ body: @Sendable ([Address], _ heard: AsyncStream<Never>) async throws -> Void
  ) async throws {
    let (heard, hear) = AsyncStream<Never>.makeStream()
    let silent = GRPCServer(
      transport: HTTP2ServerTransport.Posix(
        address: .ipv4(host: "127.0.0.1", port: 0), transportSecurity: .plaintext),
      services: [SilentService(opens: opens, heard: hear)])
    try await withServer { _, address in
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try? await silent.serve() }
        let port = try #require(try await silent.transport.listeningAddress.ipv4?.port)
        try await body([.tcp(host: "127.0.0.1", port: port), address], heard)
        group.cancelAll()
      }
    }
  }

  @Test func `a server that does not open the session in time is left for the next`() async throws {
    let clock = ClientTestClock()
    try await Self.withServers(opens: false) { addresses, heard in
      async let passing: Void = {
        for await _ in heard {}
        await clock.pass(.seconds(5))
        await clock.pass(.milliseconds(50))
      }()
      try await clock.withSession(
        at: addresses, SessionOptions(reconnect: ReconnectPolicy())
      ) { session in
        var received = ReceivedEvents(session)
        let restored = try #require(try await received.restored())
        #expect(restored.address == addresses[1])
        #expect(!restored.isResumed)
      }
      await passing
    }
  }

  @Test
  func `a server that leaves a ping unanswered is left for the next, and what it had is lost`()
    async throws
  {
    let clock = ClientTestClock()
    let shot = try picture()
    try await Self.withServers(opens: true) { addresses, heard in
      try await clock.withSession(
        at: addresses, SessionOptions(reconnect: ReconnectPolicy())
      ) { session in
        var received = ReceivedEvents(session)
        await session.send(VideoFrame(shot))
        for await _ in heard {}
        await clock.pass(.seconds(5))
        await clock.pass(.seconds(3))
        #expect(try await received.dropped()?.reason == .connectionLost)
        await clock.pass(try #require(try await received.interrupted()))
        #expect(try await received.restored()?.address == addresses[1])
        await session.send(VideoFrame(shot))
        #expect(try await received.filtered()?.sequence == 2)
      }
    }
  }
}
