import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
public import Logging
import NIOCore
public import ServiceLifecycle
public import SidelightServer

/// Serves the state of a server over HTTP: probes for service managers, metrics for Prometheus, and
/// a live page for operators. It is read-only and does not authenticate callers: restrict access to
/// its address.
///
/// | path | response |
/// |---|---|
/// | `/livez` | 200 while the process runs |
/// | `/readyz` | 200 while the server accepts sessions; 503 before that and while it drains |
/// | `/metrics` | Prometheus' text format |
/// | `/version` | the version, as JSON |
/// | `/status.json` | ``ServerStatus``, as JSON |
/// | `/` | a page that shows the status |
///
/// List it before the server in a `ServiceGroup`, to let it respond while the server drains.
public final class AdminServer: Service {
  private let address: Address
  private let server: SidelightServer
  private let metrics: @Sendable () -> String
  private let logger: Logger
  private let bound: (stream: AsyncStream<Address>, continuation: AsyncStream<Address>.Continuation)

  /// - Parameters:
  ///   - address: The address to listen on: a TCP address or a Unix socket.
  ///   - server: The server whose state is served.
  ///   - metrics: Returns the metrics for Prometheus. Called after the server has updated its own.
  ///   - logger: The logger.
  public init(
    address: Address, server: SidelightServer, metrics: @escaping @Sendable () -> String,
    logger: Logger
  ) {
    self.address = address
    self.server = server
    self.metrics = metrics
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

  private var router: Router<BasicRequestContext> {
    let router = Router(context: BasicRequestContext.self)
    router.get("livez") { _, _ in Self.text("ok\n") }
    router.get("readyz") { [server] _, _ in
      let phase = server.phase
      let missing = server.absences.compactMapValues(\.self).sorted { $0.key < $1.key }
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
    for asset in PageAsset.all {
      router.get(RouterPath(asset.path)) { _, _ in
        Self.response(asset.content, type: asset.type)
      }
    }
    return router
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
