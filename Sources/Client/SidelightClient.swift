import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOCore
public import SidelightKernels
public import SidelightWire
public import Tracing

/// A connection to a Sidelight server, for programs that embed it: call servers, offload clients.
///
/// ```swift
/// try await SidelightClient.connect(to: Address("127.0.0.1:50051")) { client in
///   try await client.withSession(SessionOptions(pipeline: [.filter("sepiaTone")])) { session in
///     async let sending: Void = session.send(contentsOf: camera)
///     for try await outcome in session.outcomes { show(outcome) }
///     try await sending
///   }
/// }
/// ```
public struct SidelightClient: Sendable {
  private let stub: Sidelight_V1_FrameFilter.Client<HTTP2ClientTransport.Posix>
  private let transport: TransportConfiguration
  private let pool: BufferPool
  private let tracer: any Tracer

  /// Connects, and closes the connection when `body` returns. Connecting itself is lazy: an address
  /// where nobody listens shows at the first call, as an `RPCError` with code UNAVAILABLE.
  ///
  /// - Parameters:
  ///   - address: Where the server listens.
  ///   - transport: How frames travel.
  ///   - tracer: Whose context travels in frames. None: that of `InstrumentationSystem`.
  public static func connect<Result: Sendable>(
    to address: Address,
    transport: TransportConfiguration = TransportConfiguration(),
    tracer: (any Tracer)? = nil,
    _ body: (SidelightClient) async throws -> Result
  ) async throws -> Result {
    let channel = try HTTP2ClientTransport.Posix(
      target: Self.target(address), transportSecurity: .plaintext,
      config: .defaults { config in
        config.http2.targetWindowSize = transport.streamWindowBytes
        config.http2.maxFrameSize = transport.http2FrameBytes
        config.channelDebuggingCallbacks.onCreateTCPConnection = { channel in
          channel.setOption(
            .recvAllocator,
            value: FixedSizeRecvByteBufferAllocator(capacity: transport.receiveBufferBytes))
        }
      })
    return try await withGRPCClient(transport: channel) { client in
      try await body(
        SidelightClient(
          stub: Sidelight_V1_FrameFilter.Client(wrapping: client), transport: transport,
          pool: BufferPool(), tracer: tracer ?? InstrumentationSystem.tracer))
    }
  }

  /// Opens a session, and ends it when `body` returns: what was sent is finished first.
  ///
  /// If `body` throws, or the task is cancelled, the session is cut off at once.
  ///
  /// - Throws: `RPCError` if the server refuses the session or the connection is lost; whatever `body`
  ///   throws.
  public func withSession<Result: Sendable>(
    _ options: SessionOptions = SessionOptions(),
    _ body: (FilterSession) async throws -> Result
  ) async throws -> Result {
    let session = FilterSession(policy: options.dropPolicy, pool: self.pool, tracer: self.tracer)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await self.serve(session, options) }
      do {
        try await session.waitUntilOpened()
        let result = try await body(session)
        session.finish()
        // Outcomes that nobody took would hold back frames that wait for their credits.
        for try await _ in session.events {}
        while try await group.next() != nil {}
        return result
      } catch {
        group.cancelAll()
        throw error
      }
    }
  }

  /// Filters one still image file (PNG or JPEG).
  ///
  /// - Parameters:
  ///   - pipeline: What is done.
  ///   - file: The file's bytes.
  ///   - format: The kind of file to get.
  /// - Returns: The bytes of the filtered file.
  /// - Throws: `RPCError` with INVALID_ARGUMENT that names what is wrong with file or pipeline.
  public func apply(
    _ pipeline: Pipeline, toFile file: [UInt8], as format: StillFormat
  ) async throws -> [UInt8] {
    let response = try await self.stub.apply(
      StillFormat.request(pipeline, file: file, format: format), options: self.callOptions)
    return [UInt8](response.image.inline)
  }

  private func serve(_ session: FilterSession, _ options: SessionOptions) async {
    do {
      try await self.stub.process(
        options: self.callOptions,
        requestProducer: { try await session.send(to: $0, opening: options) },
        onResponse: { try await session.receive($0.messages) })
      session.end(.success(()))
    } catch {
      session.end(.failure(error))
    }
  }

  private var callOptions: CallOptions {
    var options = CallOptions.defaults
    options.maxRequestMessageBytes = self.transport.maxMessageBytes
    options.maxResponseMessageBytes = self.transport.maxMessageBytes
    return options
  }

  private static func target(_ address: Address) -> any ResolvableTarget {
    switch address {
    case .unix(let path): .unixDomainSocket(path: path)
    case .tcp("localhost", let port): .ipv4(address: "127.0.0.1", port: port)
    case .tcp(let host, let port) where host.contains(":"): .ipv6(address: host, port: port)
    case .tcp(let host, let port) where host.allSatisfy { $0.isNumber || $0 == "." }:
      .ipv4(address: host, port: port)
    case .tcp(let host, let port): .dns(host: host, port: port)
    }
  }
}
