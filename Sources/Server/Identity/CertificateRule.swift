/// The scopes of clients with certain certificates.
public struct CertificateRule: Sendable, Hashable {
  /// The certificate's name in the form of `PeerCertificate.names`, such as `dns:camera-7.example`.
  /// A `*` at its end matches any rest.
  public var name: String
  /// The scopes of these clients.
  public var scopes: Set<Scope>

  /// - Parameters:
  ///   - name: The certificate's name: `uri:spiffe://example/sfu`, `dns:*`, `subject:CN=alice`.
  ///   - scopes: The scopes of these clients.
  public init(name: String, scopes: Set<Scope>) {
    self.name = name
    self.scopes = scopes
  }

  /// The prefixes of names.
  public static let kinds = ["uri:", "dns:", "subject:"]

  /// Returns whether the rule matches a name.
  func matches(_ name: String) -> Bool {
    guard self.name.hasSuffix("*") else { return self.name == name }
    return name.hasPrefix(self.name.dropLast())
  }
}
