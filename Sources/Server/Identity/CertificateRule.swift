/// What clients with certain certificates may do.
public struct CertificateRule: Sendable, Hashable {
  /// Whose: a name as `PeerCertificate.names` has them, such as `dns:camera-7.example`; a `*` at its
  /// end stands for anything.
  public var name: String
  /// What they may do.
  public var scopes: Set<Scope>

  /// - Parameters:
  ///   - name: Whose: `uri:spiffe://example/sfu`, `dns:*`, `subject:CN=alice`.
  ///   - scopes: What they may do.
  public init(name: String, scopes: Set<Scope>) {
    self.name = name
    self.scopes = scopes
  }

  /// How names begin.
  public static let kinds = ["uri:", "dns:", "subject:"]

  /// Whether it speaks of that name.
  func fits(_ name: String) -> Bool {
    guard self.name.hasSuffix("*") else { return self.name == name }
    return name.hasPrefix(self.name.dropLast())
  }
}
