import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
public import Logging
import NIOCore
public import ServiceLifecycle
public import SidelightServer

/// Serves the state of a server over HTTP: probes for service managers, metrics for Prometheus, and
/// a live page for operators, all without authentication: restrict access to its address.
///
/// Profiles and log levels require a token with the scope `operate`; if the server does not
/// authenticate callers, they answer this machine only.
///
/// | path | response |
/// |---|---|
/// | `/livez` | 200 while the process runs |
/// | `/readyz` | 200 while the server accepts sessions; 503 before that and while it drains |
/// | `/metrics` | Prometheus' text format |
/// | `/version` | the version, as JSON |
/// | `/status.json` | ``ServerStatus``, as JSON |
/// | `/profile/cpu?seconds=10` | processor time by function in up to 60 s, for `pprof` |
/// | `/profile/heap` | the allocator's heaps, as XML |
/// | `/log?level=debug&session=ID&seconds=600` | PUT: the log's level for a session, a `caller` or all, for up to a day |
/// | `/` | a page that shows the status |
///
/// List it before the server in a `ServiceGroup`, to let it respond while the server drains.
public final class AdminServer: Service {
  private let address: Address
  private let server: SidelightServer
  private let metrics: @Sendable () -> String
  private let setLogLevel: (@Sendable (LogLevelChange) -> Void)?
  private let logger: Logger
  private let bound: (stream: AsyncStream<Address>, continuation: AsyncStream<Address>.Continuation)

  /// - Parameters:
  ///   - address: The address to listen on: a TCP address or a Unix socket.
  ///   - server: The server whose state is served.
  ///   - metrics: Returns the metrics for Prometheus. Called after the server has updated its own.
  ///   - setLogLevel: Changes the level of the log for a time. `nil` refuses such requests.
  ///   - logger: The logger.
  public init(
    address: Address, server: SidelightServer, metrics: @escaping @Sendable () -> String,
    setLogLevel: (@Sendable (LogLevelChange) -> Void)? = nil, logger: Logger
  ) {
    self.address = address
    self.server = server
    self.metrics = metrics
    self.setLogLevel = setLogLevel
    self.logger = logger
    self.bound = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Serves until graceful shutdown begins or the task is cancelled.
  ///
  /// - Throws: The transport's error if the address cannot be bound.
  public func run() async throws {
    defer { self.bound.continuation.finish() }
    let application = Application(
      router: self.router,
      // Idle connections count only against this endpoint, not against sessions.
      server: .http1(
        configuration: HTTP1Channel.Configuration(
          idleTimeout: .seconds(60),
          httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
            maxHeaderFieldSize: 8192, maxHeaderListSize: 16384, maxHeaderFieldCount: 100))),
      configuration: ApplicationConfiguration(
        address: self.bindAddress, serverName: nil,
        availableConnectionsDelegate: .maximum(64, logger: self.logger)),
      onServerRunning: { channel in
        self.bound.continuation.yield(self.boundAddress(of: channel))
      }, logger: self.logger)
    try await application.run()
  }

  /// The address on which it listens, with the port that the system chose. Waits until it listens.
  /// Read it once.
  ///
  /// - Returns: `nil` if it ends without listening.
  public var listeningAddress: Address? {
    get async { await self.bound.stream.first { _ in true } }
  }

  private var router: Router<AdminRequestContext> {
    let router = Router(context: AdminRequestContext.self)
    router.get("livez") { _, _ in Self.text("ok\n") }
    router.get("readyz") { [server] _, _ in
      let phase = server.phase
      let missing = server.filterOutages.compactMapValues(\.self).sorted { $0.key < $1.key }
        .map { "missing filter \($0.key): \($0.value)\n" }
      return Self.text(
        "\(phase.rawValue)\n\(missing.joined())",
        status: phase == .serving ? .ok : .serviceUnavailable)
    }
    router.get("metrics") { [server, metrics] _, _ in
      server.updateMetrics()
      return Self.response(
        Array(metrics().utf8), type: "text/plain; version=0.0.4; charset=utf-8")
    }
    router.get("version") { _, _ in
      try Self.json(["name": "sidelight", "version": SidelightVersion.current])
    }
    router.get("status.json") { [server] _, _ in try Self.json(server.status) }
    router.get("profile/cpu") { [server] request, context in
      try await Self.requireOperator(request, context, of: server)
      let seconds = try Self.seconds(of: request, default: 10, atMost: 60)
      return try await Self.profile("application/octet-stream") {
        try await ProcessProfile.processorTime(for: seconds)
      }
    }
    router.get("profile/heap") { [server] request, context in
      try await Self.requireOperator(request, context, of: server)
      return try await Self.profile("application/xml") { try ProcessProfile.heaps() }
    }
    router.put("log") { [server, setLogLevel, logger] request, context in
      try await Self.requireOperator(request, context, of: server)
      guard let setLogLevel else { throw HTTPError(.notImplemented) }
      let query = request.uri.queryParameters
      guard let level = query["level"].flatMap({ Logger.Level(rawValue: String($0)) }) else {
        let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
        throw HTTPError(.badRequest, message: "level must be one of \(levels)")
      }
      guard query["session"] == nil || query["caller"] == nil else {
        throw HTTPError(.badRequest, message: "name a session or a caller, not both")
      }
      let change = LogLevelChange(
        level: level, session: query["session"].map { String($0) },
        caller: query["caller"].map { String($0) },
        duration: try Self.seconds(of: request, default: 600, atMost: 86400))
      setLogLevel(change)
      logger.notice(
        "log level changed",
        metadata: [
          "level": "\(level)", "session": "\(change.session ?? "")",
          "caller": "\(change.caller ?? "")", "duration": "\(change.duration)",
        ])
      return Self.text("ok\n")
    }
    for asset in PageAsset.all {
      router.get(RouterPath(asset.path)) { _, _ in
        Self.response(asset.content, type: asset.type)
      }
    }
    return router
  }

  /// - Throws: `HTTPError` unless an operator calls.
  private static func requireOperator(
    _ request: Request, _ context: AdminRequestContext, of server: SidelightServer
  ) async throws {
    guard server.acceptsTokens else {
      // A proxy on this machine speaks for others, and a page in a browser names a host.
      let isForwarded = ["forwarded", "x-forwarded-for"].contains {
        HTTPField.Name($0).map { request.headers[$0] != nil } ?? false
      }
      guard context.isLocal, !isForwarded, Self.isLocal(request.head.authority) else {
        throw HTTPError(.forbidden, message: "only callers on this machine may do this")
      }
      return
    }
    guard let scopes = await server.scopes(authorization: request.headers[values: .authorization])
    else {
      throw HTTPError(
        .unauthorized, headers: [.wwwAuthenticate: "Bearer"], message: "this needs a valid token")
    }
    guard scopes.contains(.operate) else {
      throw HTTPError(.forbidden, message: "this needs a token with the scope operate")
    }
  }

  /// Whether a request's host is an address or `localhost`: another name may be a page's that looks like
  /// this machine.
  private static func isLocal(_ authority: String?) -> Bool {
    guard let authority else { return true }
    let host = authority.hasPrefix("[") ? authority : String(authority.prefix { $0 != ":" })
    return host.isEmpty || host == "localhost" || host.hasPrefix("[")
      || host.allSatisfy { $0.isNumber || $0 == "." }
  }

  private static func seconds(
    of request: Request, default: Int, atMost limit: Int
  ) throws -> Duration {
    guard let text = request.uri.queryParameters["seconds"] else { return .seconds(`default`) }
    guard let seconds = Int(text), (1 ... limit).contains(seconds) else {
      throw HTTPError(.badRequest, message: "seconds must be a whole number from 1 to \(limit)")
    }
    return .seconds(seconds)
  }

  private static func profile(
    _ type: String, _ take: () async throws -> [UInt8]
  ) async throws -> Response {
    do {
      return self.response(try await take(), type: type)
    } catch ProcessProfile.Failure.isRunning {
      throw HTTPError(.conflict, message: "another profile is being taken")
    } catch ProcessProfile.Failure.unavailable {
      throw HTTPError(.notImplemented, message: "this system has no profiles")
    }
  }

  private static func text(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
    self.response(Array(text.utf8), type: "text/plain; charset=utf-8", status: status)
  }

  private static func json(_ value: some Encodable) throws -> Response {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return self.response(Array(try encoder.encode(value)), type: "application/json")
  }

  private static func response(
    _ content: [UInt8], type: String, status: HTTPResponse.Status = .ok
  ) -> Response {
    var headers = HTTPFields()
    headers[.contentType] = type
    headers[.cacheControl] = "no-store"
    headers[.xContentTypeOptions] = "nosniff"
    headers[.contentSecurityPolicy] =
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
      + "frame-ancestors 'none'"
    return Response(
      status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: content)))
  }

  private var bindAddress: BindAddress {
    switch self.address {
    case .tcp(let host, let port): .hostname(host, port: port)
    case .unix(let path): .unixDomainSocket(path: path)
    }
  }

  private func boundAddress(of channel: any Channel) -> Address {
    guard case .tcp(let host, _) = self.address, let port = channel.localAddress?.port else {
      return self.address
    }
    return .tcp(host: host, port: port)
  }
}

/// A change of the log's level.
public struct LogLevelChange: Sendable {
  /// The minimum level of entries.
  public var level: Logger.Level
  /// The ID of the session whose entries it applies to.
  public var session: String?
  /// The name of the caller whose sessions it applies to.
  public var caller: String?
  /// The time after which it ends.
  public var duration: Duration
}

/// A request whose caller may be on this machine.
private struct AdminRequestContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  let isLocal: Bool

  init(source: ApplicationRequestContextSource) {
    self.coreContext = CoreRequestContextStorage(source: source)
    let address = source.channel.remoteAddress
    let host = address?.ipAddress ?? ""
    self.isLocal =
      address?.protocol == .unix || host == "::1" || host.hasPrefix("127.")
      || host.hasPrefix("::ffff:127.")
  }
}

/// A file of the live page, embedded in the binary.
private struct PageAsset: Sendable {
  let path: String
  let type: String
  let content: [UInt8]

  static let all = [
    PageAsset(path: "", type: "text/html; charset=utf-8", content: PackageResources.index_html),
    PageAsset(
      path: "page.css", type: "text/css; charset=utf-8", content: PackageResources.page_css),
    PageAsset(
      path: "page.js", type: "text/javascript; charset=utf-8", content: PackageResources.page_js),
  ]
}
