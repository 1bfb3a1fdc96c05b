import Foundation
import SidelightServer
import SidelightTransport
import Synchronization

/// The HTTP side of the studio: its page, the exchange of tokens for cookies, and the rules about
/// who may open a WebSocket.
///
/// - A request must name a host of the page, which blocks names of foreign sites that resolve to
///   this machine (DNS rebinding).
/// - A page needs the cookie of a session, or a one-time token.
/// - A WebSocket needs the cookie, and the origin of the page. Where the server authenticates
///   callers using tokens, a bearer token replaces the cookie; without an `Origin` header, which
///   browsers always send, only a bearer token is accepted.
final class StudioSite: WebSite {
  /// The facts about the server that the page shows.
  struct Information: Sendable, Encodable {
    var version = SidelightVersion.current
    /// The first address at which the server speaks gRPC.
    var grpcAddress = ""
    /// Whether callers of the page may use the service `Sessions`.
    var `operator` = false
  }

  private static let subprotocolPrefix = "bearer."

  private let hosts: Set<String>
  private let acceptsBearerTokens: Bool
  private let folder: String?
  private let access: StudioAccess
  private let onRedeem: @Sendable () -> Void
  private let information = Mutex(Information())

  /// - Parameters:
  ///   - hosts: The names under which the page may be requested, in lower case, in addition to
  ///     the names of the loopback interface.
  ///   - acceptsBearerTokens: Whether the server authenticates callers using tokens.
  ///   - folder: A folder with the files of the page; `nil` uses those in the binary.
  ///   - onRedeem: Called when a token was used and a new token is valid.
  init(
    hosts: [String], acceptsBearerTokens: Bool, folder: String?, access: StudioAccess,
    onRedeem: @escaping @Sendable () -> Void
  ) {
    self.hosts = Set(hosts + ["127.0.0.1", "localhost", "[::1]"])
    self.acceptsBearerTokens = acceptsBearerTokens
    self.folder = folder
    self.access = access
    self.onRedeem = onRedeem
  }

  /// Sets the facts that the page shows.
  func update(_ information: Information) { self.information.withLock { $0 = information } }

  // MARK: Pages

  func response(to request: WebRequest) -> WebResponse {
    guard let host = self.host(of: request) else { return Self.foreignHost }
    guard request.method == "GET" || request.method == "HEAD" else {
      return Self.text(405, "The studio answers GET and HEAD.", [("allow", "GET, HEAD")])
    }
    // HEAD leaves the token valid: a program that previews links must not use it up.
    if request.method == "GET", request.path == "/", let token = request.parameter("token") {
      return self.redeem(token, request, host)
    }
    guard self.hasSession(request, host) else { return Self.unauthorized }
    if request.path == "/info.json" { return self.informationResponse }
    let path = request.path == "/" ? "index.html" : String(request.path.dropFirst())
    let content =
      if let folder { StudioFiles.read(path, in: folder) } else { StudioFiles.embedded[path] }
    guard let content else { return Self.text(404, "There is no file \(request.path).") }
    return Self.response(200, content, StudioFiles.mediaType(of: path))
  }

  private func redeem(_ token: String, _ request: WebRequest, _ host: Host) -> WebResponse {
    var headers = [("location", "/")]
    if let session = self.access.redeem(token) {
      headers.append(
        ("set-cookie", "\(host.cookie)=\(session); HttpOnly; SameSite=Strict; Path=/"))
      self.onRedeem()
    } else if !self.hasSession(request, host) {
      return Self.unauthorized
    }
    return Self.text(303, "The studio is at /.", headers)
  }

  private var informationResponse: WebResponse {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let content = try? encoder.encode(self.information.withLock(\.self))
    return Self.response(200, Array(content ?? Data()), "application/json")
  }

  // MARK: WebSockets

  func admission(of request: WebRequest) -> WebSocketAdmission {
    guard let host = self.host(of: request) else { return .refused(Self.foreignHost) }
    let origins = request.values(of: "origin")
    let hasOrigin = !origins.isEmpty
    guard origins.allSatisfy({ host.isOrigin($0) }) else {
      return .refused(Self.text(403, "The Origin must be that of the page."))
    }
    let authorization = self.authorization(of: request)
    if !authorization.isEmpty { return .accepted(authorization: authorization) }
    guard self.hasSession(request, host) else { return .refused(Self.unauthorized) }
    guard hasOrigin else {
      return .refused(Self.text(403, "A WebSocket with a cookie needs the Origin of the page."))
    }
    return .accepted(authorization: [])
  }

  /// The values for the call's header `authorization`, from the request's own or from the
  /// subprotocol `bearer.TOKEN`, since pages cannot set headers of a WebSocket.
  private func authorization(of request: WebRequest) -> [String] {
    guard self.acceptsBearerTokens else { return [] }
    let tokens = request.elements(of: "sec-websocket-protocol").filter {
      $0.hasPrefix(Self.subprotocolPrefix)
    }
    return request.values(of: "authorization")
      + tokens.map { "Bearer \($0.dropFirst(Self.subprotocolPrefix.count))" }
  }

  // MARK: Checks

  /// The host that a request names.
  private struct Host {
    /// The name and the port, as the request has them, in lower case.
    let authority: String
    let port: Substring

    /// The name of the cookie. Cookies are shared by all ports of a host, so it has the port.
    var cookie: String { "sidelight-studio-\(self.port)" }

    func isOrigin(_ origin: String) -> Bool {
      ["http://\(self.authority)", "https://\(self.authority)"].contains(origin.lowercased())
    }
  }

  /// Returns the host of a request; `nil` if it is not a host of the page.
  private func host(of request: WebRequest) -> Host? {
    guard let authority = request.value(of: "host")?.lowercased() else { return nil }
    let hasPort = authority.last != "]" && authority.contains(":")
    let colon = hasPort ? authority.lastIndex(of: ":") ?? authority.endIndex : authority.endIndex
    guard self.hosts.contains(String(authority[..<colon])) else { return nil }
    let port = authority[colon...].dropFirst()
    guard port.allSatisfy(\.isNumber) else { return nil }
    return Host(authority: authority, port: port.isEmpty ? "80" : port)
  }

  private func hasSession(_ request: WebRequest, _ host: Host) -> Bool {
    let cookies = request.values(of: "cookie").flatMap { $0.split(separator: ";") }
    return cookies.contains { cookie in
      let parts = cookie.trimmingCharacters(in: .whitespaces).split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return parts.count == 2 && parts[0] == host.cookie && self.access.isOpen(String(parts[1]))
    }
  }

  // MARK: Responses

  private static let foreignHost = StudioSite.text(
    421, "The Host is not one of the studio's. Add it to the setting studio.hosts.")
  private static let unauthorized = StudioSite.text(
    401,
    "Open the address that the server has printed. It can be used once; the server then prints "
      + "another one.")

  private static func text(
    _ status: Int, _ text: String, _ headers: [(name: String, value: String)] = []
  ) -> WebResponse {
    self.response(status, Array("\(text)\n".utf8), "text/plain; charset=utf-8", headers)
  }

  private static func response(
    _ status: Int, _ content: [UInt8], _ type: String,
    _ headers: [(name: String, value: String)] = []
  ) -> WebResponse {
    WebResponse(
      status: status,
      headers: headers + [
        ("content-type", type), ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        (
          "content-security-policy",
          "default-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; "
            + "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; "
            + "frame-ancestors 'none'"
        ),
      ], body: content)
  }
}
