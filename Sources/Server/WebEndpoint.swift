package import SidelightTransport
package import SidelightWire

/// An address at which a server speaks HTTP: it serves a site, and calls on WebSockets
/// (`docs/reference/websocket.md`).
package struct WebEndpoint: Sendable {
  /// The address: a TCP address or a Unix socket.
  package var address: Address
  /// The pages, and the rules about who may open a WebSocket.
  package var site: any WebSite

  package init(address: Address, site: any WebSite) {
    self.address = address
    self.site = site
  }
}
