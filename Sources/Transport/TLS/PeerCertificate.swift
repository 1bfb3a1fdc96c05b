import Foundation
import NIOSSL
import SwiftASN1
import X509

/// The certificate with which a client proved who it is; TLS has found its chain to be good.
package struct PeerCertificate: Sendable, Hashable {
  /// Whom it names, the most telling first: `uri:` and `dns:` with its alternative names, then
  /// `subject:` with its distinguished name as RFC 4514 writes it.
  package var names: [String]
  /// When it ends, as time since 1970.
  package var expires: Duration

  /// By which it counts.
  var name: String { self.names[0] }

  /// - Parameters:
  ///   - names: Whom it names, at least one.
  ///   - expires: When it ends, as time since 1970.
  package init(names: [String], expires: Duration) {
    self.names = names
    self.expires = expires
  }

  /// Reads a certificate.
  ///
  /// - Returns: `nil` if it cannot be read, or names nobody.
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
    // What ends up in logs and in limits' tables is bounded.
    guard !self.names.isEmpty, self.name.utf8.count <= 512 else { return nil }
  }
}
