import Foundation
package import GRPCCore
@_exported public import SidelightKernels
package import SidelightTransport
@_exported public import SidelightWire
import SwiftProtobuf
public import Tracing

/// A client of Sidelight servers, for call servers and devices that offload their filters.
///
/// ```swift
/// try await SidelightClient.connect(to: Address("127.0.0.1:50051")) { client in
///   let options = SessionOptions(
///     pipeline: [.sepiaTone(intensity: 0.8), .vignette(intensity: 1)],
///     budget: .milliseconds(60), reconnect: ReconnectPolicy())
///   try await client.withSession(options) { session in
///     for try await frame in session.filter(camera) { show(frame.picture) }
///   }
/// }
/// ```
///
/// Sessions and stills have separate connections: they don't wait for another's frames, and the
/// loss of one does not affect the others. `TransportConfiguration.connections` lets sessions share
/// connections.
public struct SidelightClient: Sendable {
  let dialer: Dialer
  private let security: ClientSecurity
  let addresses: [Address]
  private let tracer: any Tracer
  private let clock: SessionClock
  private let random: @Sendable () -> Double

  /// Runs a closure with a client of one server. Connections are opened when they are needed: if
  /// the server doesn't listen at the address, the first call throws an `RPCError` with code
  /// UNAVAILABLE.
  ///
  /// - Parameters:
  ///   - address: The server's address.
  ///   - body: The closure. The client is valid until it returns.
  /// - Throws: `ConfigurationError` if a setting of `transport` or `security` is out of its range;
  ///   the error of `body`.
  public static func connect<Result: Sendable>(
    to address: Address,
    transport: TransportConfiguration = TransportConfiguration(),
    security: ClientSecurity = ClientSecurity(),
    tracer: (any Tracer)? = nil,
    _ body: (SidelightClient) async throws -> Result
  ) async throws -> Result {
    try await self.connect(
      to: [address], transport: transport, security: security, tracer: tracer, body)
  }

  /// Runs a closure with a client of several servers.
  ///
  /// - Parameters:
  ///   - addresses: The servers' addresses, at least one. Sessions open at the first; a session
  ///     with ``SessionOptions/reconnect`` continues at the next when it loses its connection.
  ///     Servers that share a resume key restore one another's sessions.
  ///   - transport: The options of the transport.
  ///   - security: The options of encryption and authentication.
  ///   - tracer: The tracer whose context travels in frames. `nil` uses the tracer of
  ///     `InstrumentationSystem`.
  ///   - body: The closure. The client is valid until it returns.
  /// - Throws: `ConfigurationError` if a setting of `transport` or `security` is out of its range;
  ///   the error of `body`.
  public static func connect<Result: Sendable>(
    to addresses: [Address],
    transport: TransportConfiguration = TransportConfiguration(),
    security: ClientSecurity = ClientSecurity(),
    tracer: (any Tracer)? = nil,
    _ body: (SidelightClient) async throws -> Result
  ) async throws -> Result {
    try await self.connect(
      to: addresses, transport: transport, security: security, tracer: tracer, clock: .system,
      random: { .random(in: 0 ..< 1) }, body)
  }

  package static func connect<Result: Sendable>(
    to addresses: [Address],
    transport: TransportConfiguration = TransportConfiguration(),
    security: ClientSecurity = ClientSecurity(),
    tracer: (any Tracer)? = nil,
    clock: SessionClock, random: @escaping @Sendable () -> Double,
    _ body: (SidelightClient) async throws -> Result
  ) async throws -> Result {
    precondition(!addresses.isEmpty, "There is no address to connect to.")
    try security.validate(for: addresses)
    return try await Dialer.withDialer(
      transport, tls: security.tls, interceptors: security.interceptors,
      isConnectionError: { LinkFailure($0) == .transient }
    ) { dialer in
      try await body(
        SidelightClient(
          dialer: dialer, security: security, addresses: addresses,
          tracer: tracer ?? InstrumentationSystem.tracer, clock: clock, random: random))
    }
  }

  /// Opens a session and, when `body` returns, ends it after the outcomes of all sent frames.
  /// ``SessionOptions/reconnect`` applies to the first opening too.
  ///
  /// If `body` throws or the task is cancelled, the session ends at once.
  ///
  /// - Throws: `RPCError` if the server refuses the session, or the connection is lost and not
  ///   restored; the error of `body`.
  public func withSession<Result: Sendable>(
    _ options: SessionOptions = SessionOptions(),
    _ body: (FilterSession) async throws -> Result
  ) async throws -> Result {
    let loop = self.dialer.nextLoop()
    let session = FilterSession(
      options: options, clock: self.clock, tracer: self.tracer, executor: loop.executor)
    let runner = SessionRunner(
      session: session, options: options, addresses: self.addresses, dialer: self.dialer,
      security: self.security, loop: loop, clock: self.clock, random: self.random)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await runner.run() }
      do {
        try await session.flow.waitUntilOpened()
        let result = try await body(session)
        session.finish()
        // Outcomes that are not taken hold back frames that wait for their credits.
        while try await session.flow.nextEvent() != nil {}
        while try await group.next() != nil {}
        return result
      } catch {
        group.cancelAll()
        throw error
      }
    }
  }

  /// Filters one still image file (PNG or JPEG), at the first address.
  ///
  /// - Parameters:
  ///   - pipeline: The pipeline.
  ///   - file: The file's bytes.
  ///   - format: The format of the result.
  ///   - frameIndex: The index of a session's frame, from 0 in the order of arrival, as which the
  ///     picture is filtered, for filters that change from frame to frame, such as grain.
  ///   - participant: The participant whose assets and permissions apply, as in
  ///     ``SessionOptions/participant``. Empty for the caller.
  /// - Returns: The bytes of the filtered file.
  /// - Throws: `RPCError` with INVALID_ARGUMENT that describes the error in the file or the
  ///   pipeline.
  public func apply(
    _ pipeline: Pipeline, toFile file: [UInt8], as format: StillFormat, frameIndex: UInt64 = 0,
    participant: String = ""
  ) async throws -> [UInt8] {
    try await self.dialer.withConnection(to: self.addresses[0]) { connection in
      let response = try await Sidelight_V1_FrameFilter.Client(wrapping: connection).apply(
        StillFormat.request(
          pipeline, file: file, format: format, frameIndex: frameIndex, participant: participant),
        options: self.dialer.callOptions)
      return [UInt8](response.image.inline)
    }
  }
}

/// The format of a still image's file.
public enum StillFormat: Sendable, Hashable {
  /// Lossless.
  case png
  /// JPEG.
  ///
  /// - Parameters:
  ///   - quality: The quality, 1 ... 100.
  ///   - keepsFullChroma: Whether every pixel has its own chroma (4:4:4); otherwise four share it
  ///     (4:2:0).
  case jpeg(quality: Int = 90, keepsFullChroma: Bool = true)

  static func request(
    _ pipeline: Pipeline, file: [UInt8], format: StillFormat, frameIndex: UInt64,
    participant: String
  ) -> Sidelight_V1_ApplyRequest {
    .with {
      $0.pipeline = Sidelight_V1_Pipeline(pipeline)
      $0.frameIndex = frameIndex
      $0.participant = participant
      // The server reads the format from the file itself; the field only says that it is a file.
      $0.image.format = file.starts(with: [0x89]) ? .png : .jpeg
      $0.image.inline = Data(file)
      switch format {
      case .png: $0.output.format = .png
      case .jpeg(let quality, let keepsFullChroma):
        $0.output.format = .jpeg
        $0.output.jpegQuality = UInt32(clamping: quality)
        $0.output.jpegSubsampling = keepsFullChroma ? .chromaSubsampling444 : .chromaSubsampling420
      }
    }
  }
}

/// The service for operators, on a connection.
package typealias SessionsServiceClient = Sidelight_V1_Sessions.Client<Dialer.ClientTransport>

extension SidelightClient {
  /// Runs a closure with the service for operators at the first address.
  package func withSessionsService<Result: Sendable>(
    _ body: @Sendable (SessionsServiceClient, CallOptions) async throws -> Result
  ) async throws -> Result {
    let options = self.dialer.callOptions
    return try await self.dialer.withConnection(to: self.addresses[0]) { connection in
      try await body(Sidelight_V1_Sessions.Client(wrapping: connection), options)
    }
  }

  /// Returns the servers of the fleet at which to open a session, the best first, to connect another
  /// client to. Ask again after about 10 s.
  ///
  /// - Parameters:
  ///   - group: The call or room whose sessions belong to one server, at most 128 bytes.
  ///   - participant: The participant, whose sessions are a group if `group` is empty.
  ///   - cost: The load that the session adds, relative to the capacity of a server, 0 to 1.
  /// - Throws: `RPCError`: FAILED_PRECONDITION if the server does not know a fleet.
  public func place(
    group: String = "", participant: String = "", cost: Double = 0
  ) async throws -> [Address] {
    let options = self.dialer.callOptions
    let response = try await self.dialer.withConnection(to: self.addresses[0]) { connection in
      try await Sidelight_V1_FrameFilter.Client(wrapping: connection).place(
        .with {
          $0.group = group
          $0.participant = participant
          $0.cost = cost
        }, options: options)
    }
    return try response.addresses.map { try Address($0) }
  }
}
