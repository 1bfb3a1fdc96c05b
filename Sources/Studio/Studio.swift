import ServiceLifecycle
package import SidelightServer
import SidelightTransport

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
