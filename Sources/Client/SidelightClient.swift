import GRPCCore
public import SidelightKernels
import SidelightTransport
public import SidelightWire
public import Tracing

/// A way to Sidelight servers, for programs that embed it: call servers, offload clients.
///
/// ```swift
/// try await SidelightClient.connect(to: Address("127.0.0.1:50051")) { client in
///   let options = SessionOptions(
///     pipeline: [.filter("sepiaTone")], budget: .milliseconds(60), reconnect: ReconnectPolicy())
///   try await client.withSession(options) { session in
///     async let sending: Void = session.send(contentsOf: camera)
///     for try await outcome in session.outcomes {
///       if let picture = outcome.picture { show(picture) }
///     }
///     try await sending
///   }
/// }
/// ```
///
/// Each session, and each still, has a connection of its own: none waits for another's frames, and
/// what ends one does not end the others. `TransportConfiguration.connections` lets them share a few.
public struct SidelightClient: Sendable {
  let dialer: Dialer
  private let usesTokens: Bool
  let addresses: [Address]
  private let tracer: any Tracer
  private let clock: ClientClock
  private let random: @Sendable () -> Double

  /// Prepares to connect. An address where nobody listens shows at the first call, as an `RPCError`
  /// with code UNAVAILABLE.
  ///
  /// - Parameters:
  ///   - address: Where the server listens.
  ///   - transport: How frames travel.
  ///   - security: How client and server know each other.
  ///   - tracer: Whose context travels in frames. None: that of `InstrumentationSystem`.
  /// - Throws: `ConfigurationFault` if a setting of `transport` or `security` is out of its range; whatever `body`
  ///   throws.
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

  /// Prepares to connect to one of several servers.
  ///
  /// - Parameters:
  ///   - addresses: Where servers listen, at least one. The first is asked first; a session with
  ///     ``SessionOptions/reconnect`` goes on to the next when it loses one. Servers that share a
  ///     resume key take each other's sessions over as they were.
  ///   - transport: How frames travel.
  ///   - security: How client and server know each other.
  ///   - tracer: Whose context travels in frames. None: that of `InstrumentationSystem`.
  /// - Throws: `ConfigurationFault` if a setting of `transport` or `security` is out of its range; whatever `body`
  ///   throws.
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
    clock: ClientClock, random: @escaping @Sendable () -> Double,
    _ body: (SidelightClient) async throws -> Result
  ) async throws -> Result {
    precondition(!addresses.isEmpty, "There is no address to connect to.")
    try security.validate(for: addresses)
    return try await Dialer.withDialer(
      transport, tls: security.tls, interceptors: security.interceptors,
      isConnectionFault: { LinkFailure($0) == .transient }
    ) { dialer in
      try await body(
        SidelightClient(
          dialer: dialer, usesTokens: security.token != nil, addresses: addresses,
          tracer: tracer ?? InstrumentationSystem.tracer, clock: clock, random: random))
    }
  }

  private init(
    dialer: Dialer, usesTokens: Bool, addresses: [Address], tracer: any Tracer,
    clock: ClientClock, random: @escaping @Sendable () -> Double
  ) {
    self.dialer = dialer
    self.usesTokens = usesTokens
    self.addresses = addresses
    self.tracer = tracer
    self.clock = clock
    self.random = random
  }

  /// Opens a session, and ends it when `body` returns: what was sent is finished first. With
  /// ``SessionOptions/reconnect`` the first opening is attempted as often as later ones.
  ///
  /// If `body` throws, or the task is cancelled, the session is cut off at once.
  ///
  /// - Throws: `RPCError` if the server refuses the session or the connection is lost for good;
  ///   whatever `body` throws.
  public func withSession<Result: Sendable>(
    _ options: SessionOptions = SessionOptions(),
    _ body: (FilterSession) async throws -> Result
  ) async throws -> Result {
    let loop = self.dialer.nextLoop()
    let session = FilterSession(
      options: options, clock: self.clock, tracer: self.tracer, executor: loop.executor)
    let runner = SessionRunner(
      session: session, options: options, addresses: self.addresses, dialer: self.dialer,
      usesTokens: self.usesTokens, loop: loop, clock: self.clock, random: self.random)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await runner.run() }
      do {
        try await session.flow.waitUntilOpened()
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

  /// Filters one still image file (PNG or JPEG), at the first address.
  ///
  /// - Parameters:
  ///   - pipeline: What is done.
  ///   - file: The file's bytes.
  ///   - format: The kind of file to get.
  ///   - frameIndex: The frame of a session as which the picture is filtered, counted from 0 in the
  ///     order of arrival, for filters that change from frame to frame, such as grain.
  /// - Returns: The bytes of the filtered file.
  /// - Throws: `RPCError` with INVALID_ARGUMENT that names what is wrong with file or pipeline.
  public func apply(
    _ pipeline: Pipeline, toFile file: [UInt8], as format: StillFormat, frameIndex: UInt64 = 0
  ) async throws -> [UInt8] {
    try await self.dialer.withConnection(to: self.addresses[0]) { connection in
      let response = try await Sidelight_V1_FrameFilter.Client(wrapping: connection).apply(
        StillFormat.request(pipeline, file: file, format: format, frameIndex: frameIndex),
        options: self.dialer.callOptions)
      return [UInt8](response.image.inline)
    }
  }
}
