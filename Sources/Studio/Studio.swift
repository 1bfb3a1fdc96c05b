import CStudioPage
import Foundation
import ServiceLifecycle
package import SidelightServer
import SidelightTransport
import Synchronization

/// A web page that filters the camera, a video or a still using a server's filters, and WebSockets
/// that carry calls (`docs/reference/websocket.md`).
///
/// Pass its ``endpoint`` to the server, and call ``run(with:)`` while the server runs.
package final class Studio: Sendable {
  /// The configuration of a studio.
  package struct Configuration: Sendable, Hashable {
    /// The TCP address of the page.
    package var address: Address
    /// The names under which the page may be requested, in addition to the loopback interface and
    /// the address.
    package var hosts: [String] = []
    /// A folder with the files of the page; `nil` uses those in the binary.
    package var folder: String?

    package init(address: Address) {
      self.address = address
    }
  }

  /// The addresses of all interfaces, which are not a name of the page.
  private static let wildcards: Set = ["0.0.0.0", "::"]

  /// The endpoint that the server serves.
  package let endpoint: WebEndpoint
  private let access: StudioAccess
  private let site: StudioSite
  private let announce: @Sendable (String) -> Void
  private let (redeemed, redemption) = AsyncStream.makeStream(
    of: Void.self, bufferingPolicy: .bufferingNewest(1))

  /// - Parameters:
  ///   - configuration: The address and the names of the page.
  ///   - acceptsBearerTokens: Whether the server authenticates callers using tokens.
  ///   - announce: Called with the URL of the page whenever a new one-time token is valid.
  package init(
    _ configuration: Configuration, acceptsBearerTokens: Bool,
    announce: @escaping @Sendable (String) -> Void
  ) {
    let access = StudioAccess()
    var hosts = configuration.hosts.map { $0.lowercased() }
    if case .tcp(let host, _) = configuration.address, !Self.wildcards.contains(host) {
      hosts.append((host.contains(":") ? "[\(host)]" : host).lowercased())
    }
    self.access = access
    self.site = StudioSite(
      hosts: hosts, acceptsBearerTokens: acceptsBearerTokens, folder: configuration.folder,
      access: access, onRedeem: { [redemption] in redemption.yield() })
    self.announce = announce
    self.endpoint = WebEndpoint(address: configuration.address, site: self.site)
  }

  /// The one-time token that opens the page next.
  package var token: String { self.access.token }

  /// Announces the URL of the page, and another one whenever its token was used, until graceful
  /// shutdown begins.
  ///
  /// - Parameter server: The server of the endpoint.
  package func run(with server: SidelightServer) async {
    // The server reports why it does not listen.
    guard let addresses = try? await server.listeningAddresses,
      let address = try? await server.webAddress
    else { return }
    self.site.update(
      StudioSite.Information(
        grpcAddress: addresses.first?.description ?? "",
        operator: !server.requiresAuthentication))
    self.announce(self.url(at: address))
    for await _ in self.redeemed.cancelOnGracefulShutdown() { self.announce(self.url(at: address)) }
  }

  /// The URL with the current one-time token.
  private func url(at address: Address) -> String {
    let authority =
      switch address {
      case .tcp(let host, let port) where Self.wildcards.contains(host): "127.0.0.1:\(port)"
      case .tcp, .unix: "\(address)"
      }
    return "http://\(authority)/?token=\(self.token)"
  }
}

/// The access to a studio: a one-time token, which a browser exchanges for a session.
///
/// Tokens and sessions are 128 random bits. They are compared in constant time.
final class StudioAccess: Sendable {
  /// The maximum number of open sessions. A further session ends the oldest one.
  private static let maxSessions = 64

  private struct State {
    var token = StudioAccess.makeSecret()
    /// In the order in which they began.
    var sessions: [String] = []
  }

  private let state = Mutex(State())

  /// The current token, which has not been used.
  var token: String { self.state.withLock(\.token) }

  /// Exchanges a token for a session, and replaces the token.
  ///
  /// - Returns: The secret of the session; `nil` if the token is not the current one.
  func redeem(_ token: String) -> String? {
    self.state.withLock { state in
      guard Self.areEqual(token, state.token) else { return nil }
      state.token = Self.makeSecret()
      let session = Self.makeSecret()
      if state.sessions.count >= Self.maxSessions { state.sessions.removeFirst() }
      state.sessions.append(session)
      return session
    }
  }

  /// Whether a session with that secret is open.
  func isOpen(_ session: String) -> Bool {
    self.state.withLock { state in
      state.sessions.reduce(false) { Self.areEqual($1, session) || $0 }
    }
  }

  private static func makeSecret() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0 ..< 2).map { _ in
      let digits = String(UInt64.random(in: 0 ... .max, using: &generator), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// Compares two texts in a time that depends only on their lengths.
  static func areEqual(_ one: String, _ other: String) -> Bool {
    let (one, other) = (Array(one.utf8), Array(other.utf8))
    guard one.count == other.count else { return false }
    return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

/// The files of the studio's page by path.
enum StudioFiles {
  /// The files in the binary: `Sources/Studio/Page`, and `clients/web/sidelight` below `sidelight`.
  static let embedded: [String: [UInt8]] = {
    var files: [String: [UInt8]] = [:]
    for file in UnsafeBufferPointer(start: studio_files(), count: studio_file_count()) {
      files[String(cString: file.path)] = Array(
        UnsafeBufferPointer(start: file.bytes, count: file.count))
    }
    return files
  }()

  /// Reads a file from a folder, for developers of the page. Links in the folder are followed, such
  /// as the page's link to `clients/web/sidelight`.
  ///
  /// - Parameter path: The path below the folder.
  /// - Returns: `nil` if the file doesn't exist below the folder.
  static func read(_ path: String, in folder: String) -> [UInt8]? {
    let root = URL(filePath: folder, directoryHint: .isDirectory).standardizedFileURL
    let file = root.appending(path: path).standardizedFileURL
    guard file.path.hasPrefix(root.path + "/"), let content = try? Data(contentsOf: file) else {
      return nil
    }
    return Array(content)
  }

  /// Returns the media type of a file by the end of its name.
  static func mediaType(of path: String) -> String {
    switch path.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "js": "text/javascript; charset=utf-8"
    case "json": "application/json"
    case "svg": "image/svg+xml"
    case "png": "image/png"
    case "jpg": "image/jpeg"
    case "webp": "image/webp"
    case "woff2": "font/woff2"
    case "cube", "txt": "text/plain; charset=utf-8"
    default: "application/octet-stream"
    }
  }
}
