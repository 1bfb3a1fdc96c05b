import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import GRPCProtobuf
import Logging
import NIOCore
import NIOHTTP2
import SidelightKernels
import SidelightTransport
import SidelightWire
import SwiftProtobuf
import Synchronization
import Testing

/// The hooks of this module into grpc-swift, grpc-swift-nio-transport, swift-nio-http2 and
/// swift-nio. The tests are named after the hooks: a version which breaks a hook fails with its
/// name.
///
/// The guards' own hooks are attacked in `GuardTests`; errors of HTTP/2 are in
/// `LateFrameGuardTests`.
@Suite(.timeLimit(.minutes(1))) struct HookTests {
  typealias Client = Sidelight_V1_ClientMessage
  typealias Server = Sidelight_V1_ServerMessage
  typealias Handler =
    @Sendable (StreamingServerRequest<ReceivedMessage<Client>>, ServerContext) async throws ->
    StreamingServerResponse<OutgoingMessage<Server>>

  // MARK: Memory

  @Test func `hook: the only stored property of GRPCNIOTransportBytes is a ByteBuffer`() throws {
    let bytes = GRPCNIOTransportBytes([1, 2, 3])
    #expect(GRPCBytes.buffer(of: bytes) == ByteBuffer(bytes: [1, 2, 3]))
    #expect(GRPCBytes.buffer(of: [1, 2, 3] as [UInt8]) == nil)
  }

  @Test func `hook: the memory of a retained ByteBuffer storage does not move`() throws {
    let pixels = PixelBuffer(transportable: 100_000)
    pixels.bytes.initializeMemory(as: UInt8.self, repeating: 5)
    let sent = try #require(pixels.transportBytes)
    let start = sent.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
    #expect(start == UInt(bitPattern: pixels.bytes.baseAddress))
  }

  // MARK: Callbacks

  @Test
  func `hook: channelDebuggingCallbacks run when gRPC's handlers are in place`() async throws {
    let seen = Mutex<Set<String>>([])
    let note = { @Sendable (name: String, isTrue: Bool) in
      if isTrue { _ = seen.withLock { $0.insert(name) } }
    }
    let server = GRPCServer(
      transport: HTTP2ServerTransport.Posix(
        address: .ipv4(host: "127.0.0.1", port: 0), transportSecurity: .plaintext,
        config: .defaults { config in
          config.channelDebuggingCallbacks.onAcceptTCPConnection = { channel in
            channel.eventLoop.makeCompletedFuture {
              let http2 = try? channel.pipeline.syncOperations.handler(type: NIOHTTP2Handler.self)
              note("onAcceptTCPConnection: NIOHTTP2Handler is there", http2 != nil)
              note("onAcceptTCPConnection: not active yet", !channel.isActive)
            }
          }
          config.channelDebuggingCallbacks.onAcceptHTTP2Stream = { channel in
            channel.eventLoop.makeCompletedFuture {
              let http2 = try? channel.parent?.pipeline.syncOperations.handler(
                type: NIOHTTP2Handler.self)
              note("onAcceptHTTP2Stream: the parent is the connection", http2 != nil)
            }
          }
        }), services: [])
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.serve() }
      let address = try #require(try await server.listeningAddress?.ipv4)
      let transport = try HTTP2ClientTransport.Posix(
        target: .ipv4(address: address.host, port: address.port), transportSecurity: .plaintext,
        config: .defaults { config in
          config.channelDebuggingCallbacks.onCreateTCPConnection = { channel in
            channel.eventLoop.makeCompletedFuture {
              let http2 = try? channel.pipeline.syncOperations.handler(type: NIOHTTP2Handler.self)
              note("onCreateTCPConnection: NIOHTTP2Handler is there", http2 != nil)
            }
          }
          config.channelDebuggingCallbacks.onCreateHTTP2Stream = { channel in
            channel.eventLoop.makeCompletedFuture {
              note("onCreateHTTP2Stream: the parent is the connection", channel.parent != nil)
            }
          }
        })
      try await withGRPCClient(transport: transport) { client in
        // The server doesn't have the service: the call itself is refused.
        let error = await #expect(throws: RPCError.self) {
          _ = try await Sidelight_V1_FrameFilter.Client(wrapping: client).listFilters(.init())
        }
        #expect(error?.code == .unimplemented)
      }
      server.beginGracefulShutdown()
      try await group.waitForAll()
    }
    let expected: Set = [
      "onAcceptTCPConnection: NIOHTTP2Handler is there",
      "onAcceptTCPConnection: not active yet",
      "onAcceptHTTP2Stream: the parent is the connection",
      "onCreateTCPConnection: NIOHTTP2Handler is there",
      "onCreateHTTP2Stream: the parent is the connection",
    ]
    let missing = expected.subtracting(seen.withLock { $0 })
    #expect(missing.isEmpty, "broken: \(missing.sorted())")
  }

  // MARK: Calls

  @Test
  func `hook: a header that a channel handler writes reaches the call's interceptors`() async throws
  {
    let found = Mutex<(hasOrigin: Bool, hasHeader: Bool)>((false, true))
    try await Self.withCall { request, context in
      let hasHeader = request.metadata[stringValues: "sidelight-connection"].contains { _ in true }
      let hasOrigin = context.transportSpecific is CallOrigin
      found.withLock { $0 = (hasOrigin, hasHeader) }
      return StreamingServerResponse { _ in [:] }
    }
    let (hasOrigin, hasHeader) = found.withLock { $0 }
    #expect(hasOrigin, "the call has not found its connection")
    #expect(!hasHeader, "the handler sees the transport's own header")
  }

  @Test
  func `hook: gRPC passes the handles of large messages on unchanged, one behind its prefix`()
    async throws
  {
    let pixels = (0 ..< 200_000).map { UInt8(truncatingIfNeeded: $0 / 3) }
    let received = try await Self.withCall(sending: pixels) { request, context in
      let messages = (context.transportSpecific as? CallOrigin)?.makeCallMessages()
      #expect(messages != nil)
      return StreamingServerResponse { writer in
        for try await message in request.messages {
          let pixels = try #require(message.pixels)
          let outcome = Sidelight_V1_FilteredFrame.with {
            $0.sequence = 1
            $0.image.width = 1
          }
          let envelope = try #require(try PixelEnvelope.outcome(outcome, passing: pixels))
          try await writer.write(.envelope(envelope, messages))
        }
        return [:]
      }
    }
    #expect(received.count == 1)
    #expect(received.first?.pixels.map { [UInt8]($0.bytes) } == pixels)
  }

  @Test
  func `hook: a status that the channel writes ends a call, and its handler is cancelled`()
    async throws
  {
    let cancelled = Mutex(false)
    let handler: Handler = { request, context in
      StreamingServerResponse { _ in
        (context.transportSpecific as? CallOrigin)?.end(
          GoogleRPCStatus(code: .unauthenticated, message: "Over."))
        try? await context.cancellation.cancelled
        cancelled.withLock { $0 = context.cancellation.isCancelled }
        return [:]
      }
    }
    var refusal: RPCError?
    do {
      try await Self.withCall(handler)
    } catch let error as RPCError {
      refusal = error
    }
    #expect(refusal?.code == .unauthenticated)
    #expect(refusal?.message == "Over.")
    let isCancelled = cancelled.withLock { $0 }
    #expect(isCancelled, "the handler was not cancelled")
  }

  // MARK: A listener and a dialer

  private struct Service: RegistrableRPCService {
    let handler: Handler

    func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
      router.registerHandler(
        forMethod: Sidelight_V1_FrameFilter.Method.Process.descriptor,
        deserializer: ReceivedMessageDeserializer<Client>(),
        serializer: OutgoingMessageSerializer<Server>(), handler: self.handler)
    }
  }

  /// Makes one call over a real connection, with this module on both sides.
  ///
  /// - Parameter pixels: The pixels of the frame to send; an empty array sends no frame.
  /// - Returns: The messages of the handler.
  @discardableResult
  private static func withCall(
    sending pixels: [UInt8] = [], _ handler: @escaping Handler
  ) async throws -> [ReceivedMessage<Server>] {
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let transport = TransportConfiguration()
    let listener = Listener(
      Listener.Socket(address: .tcp(host: "127.0.0.1", port: 0), unixSocketPermissions: 0o600),
      transport: transport,
      guards: Guards(
        configuration: GuardConfiguration(), maxMessageBytes: transport.maxMessageBytes,
        counters: ConnectionCounters(logger: logger)), services: [Service(handler: handler)])
    return try await EventLoops.with(nil) { loops in
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try? await listener.serve(on: loops) }
        defer { group.cancelAll() }
        let address = try await listener.boundAddress
        return try await Dialer.withDialer(
          transport, tls: nil, interceptors: [], isConnectionError: { _ in false }
        ) { dialer in
          let messages = dialer.makeCallMessages()
          return try await dialer.withConnection(to: address) { connection in
            try await connection.bidirectionalStreaming(
              request: StreamingClientRequest { writer in
                guard !pixels.isEmpty else { return }
                let frame = Client.with { $0.frame.image.width = 1 }
                let envelope = try PixelEnvelope<Client>(frame, pixelByteCount: pixels.count)
                envelope.pixels.copy(pixels)
                try await writer.write(.envelope(envelope, messages))
              },
              descriptor: Sidelight_V1_FrameFilter.Method.Process.descriptor,
              serializer: OutgoingMessageSerializer<Client>(),
              deserializer: ReceivedMessageDeserializer<Server>(), options: dialer.callOptions,
              onResponse: { response in
                var received: [ReceivedMessage<Server>] = []
                for try await message in response.messages { received.append(message) }
                return received
              })
          }
        }
      }
    }
  }
}
