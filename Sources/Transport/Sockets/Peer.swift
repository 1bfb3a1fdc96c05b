import Foundation
import NIOCore
import NIOSSL
import SwiftASN1
import X509

/// The process at the other end of a Unix socket, as the kernel saw it when the socket was
/// connected (`SO_PEERCRED`, unix(7)). Ids are those of this process's namespaces; an id without a
/// mapping there shows as the overflow id (65534), or as process 0.
package struct PeerCredentials: Sendable, Hashable, CustomStringConvertible {
  // In the order of the kernel's `struct ucred`.

  /// The process.
  package let pid: Int32
  /// The process's effective user.
  package let uid: UInt32
  /// The process's effective group.
  package let gid: UInt32

  /// The ids, as logs show them: `uid=1000 gid=1000 pid=4711`.
  package var description: String { "uid=\(self.uid) gid=\(self.gid) pid=\(self.pid)" }

  /// Reads the credentials of an accepted connection's peer.
  ///
  /// - Returns: `nil` for other sockets than Unix sockets, and on other systems than Linux.
  static func ofPeer(_ channel: any Channel) -> EventLoopFuture<PeerCredentials?> {
    #if os(Linux)
      guard case .unixDomainSocket? = channel.localAddress,
        let provider = channel as? any SocketOptionProvider
      else { return channel.eventLoop.makeSucceededFuture(nil) }
      let credentials: EventLoopFuture<PeerCredentials> = provider.unsafeGetSocketOption(
        level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED))
      return credentials.map { $0 }
    #else
      return channel.eventLoop.makeSucceededFuture(nil)
    #endif
  }
}

/// The certificate of a client, whose chain TLS has verified.
package struct PeerCertificate: Sendable, Hashable {
  /// The names in the certificate, the most specific first: `uri:` and `dns:` with its alternative
  /// names, then `subject:` with its distinguished name in the form of RFC 4514.
  package var names: [String]
  /// The end of its validity, as time since 1970.
  package var expires: Duration

  /// The name that identifies the client.
  package var name: String { self.names[0] }

  /// Reads a certificate.
  ///
  /// - Returns: `nil` if the certificate is unreadable or nameless.
  init?(_ certificate: NIOSSLCertificate) {
    guard let bytes = try? certificate.toDERBytes(),
      let parsed = try? Certificate(derEncoded: bytes)
    else { return nil }
    let alternatives = (try? parsed.extensions.subjectAlternativeNames).map(Array.init) ?? []
    var (uris, hosts): ([String], [String]) = ([], [])
    for name in alternatives {
      switch name {
      case .uniformResourceIdentifier(let uri): uris.append("uri:\(uri)")
      case .dnsName(let host): hosts.append("dns:\(host.lowercased())")
      default: break
      }
    }
    let subject = parsed.subject.isEmpty ? [] : ["subject:\(parsed.subject)"]
    self.names = uris + hosts + subject
    self.expires = .seconds(parsed.notValidAfter.timeIntervalSince1970)
    // Names go into logs and into the tables of limits, so their length is bounded.
    guard !self.names.isEmpty, self.name.utf8.count <= 512 else { return nil }
  }
}

extension Channel {
  /// The peer's address without its port; all peers of a Unix socket share one.
  var peerAddress: String { self.remoteAddress?.ipAddress ?? "unix" }

  /// The local end as gRPC names it.
  var localName: String {
    switch self.localAddress {
    case .v4: "ipv4:\(self.localAddress?.ipAddress ?? ""):\(self.localAddress?.port ?? 0)"
    case .v6: "ipv6:[\(self.localAddress?.ipAddress ?? "")]:\(self.localAddress?.port ?? 0)"
    default: "unix:\(self.localAddress?.pathname ?? "")"
    }
  }

  /// The peer as gRPC names it: `ipv4:192.0.2.1:50123`. Peers of a Unix socket have the socket's
  /// name.
  var peerName: String {
    switch self.remoteAddress {
    case .v4: "ipv4:\(self.peerAddress):\(self.remoteAddress?.port ?? 0)"
    case .v6: "ipv6:[\(self.peerAddress)]:\(self.remoteAddress?.port ?? 0)"
    default: "unix:\(self.localAddress?.pathname ?? "")"
    }
  }
}
