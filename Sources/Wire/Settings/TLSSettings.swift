/// How TCP addresses are secured. Unix sockets never are: the kernel stands for them.
public struct ServerTLS: Sendable, Hashable {
  /// Whether clients show a certificate.
  public enum ClientCertificates: String, Sendable, Hashable, CaseIterable {
    /// They are not asked.
    case none
    /// One that is shown must be good; whoever shows none may still bring a token.
    case optional
    /// Without a good one there is no connection, not even for health checks.
    case required
  }

  /// The oldest TLS that is spoken.
  public enum Version: String, Sendable, Hashable, CaseIterable {
    /// TLS 1.2 (RFC 5246).
    case tls12 = "1.2"
    /// TLS 1.3 (RFC 8446).
    case tls13 = "1.3"
  }

  /// - `certificateChain` (path, required): a PEM file with the server's certificate, then those between
  ///   it and the authority that clients trust.
  public var certificateChain: String
  /// - `privateKey` (path, required): a PEM file with the certificate's key, not encrypted.
  public var privateKey: String
  /// - `clientCertificates` (default: none): whether clients show a certificate.
  public var clientCertificates = ClientCertificates.none
  /// - `clientAuthorities` (path, required where clients show certificates): a PEM file with the
  ///   authorities that sign them. There is no default: the authorities that browsers trust would vouch
  ///   for anybody.
  public var clientAuthorities: String?
  /// - `minimumVersion` (default: 1.2): the oldest TLS that is spoken.
  public var minimumVersion = Version.tls12

  /// - Parameters:
  ///   - certificateChain: The path of a PEM file.
  ///   - privateKey: The path of a PEM file.
  public init(certificateChain: String, privateKey: String) {
    self.certificateChain = certificateChain
    self.privateKey = privateKey
  }
}

/// How connections over TCP are secured. Unix sockets never are: the kernel stands for them.
///
/// The files are read for each connection: one that is replaced counts from the next on.
public struct ClientTLS: Sendable, Hashable {
  /// - `authorities` (path, optional, default: those of the system): a PEM file with the authorities
  ///   that vouch for servers.
  public var authorities: String?
  /// - `certificateChain` (path, optional, default: none): a PEM file with this client's certificate,
  ///   for servers that ask for one.
  public var certificateChain: String?
  /// - `privateKey` (path, required with `certificateChain`): a PEM file with its key, not encrypted.
  public var privateKey: String?
  /// - `serverName` (optional, default: the host of the address): the name that the server's certificate
  ///   must have. For an address that is an IP address, and no name is given, it is that.
  public var serverName: String?

  /// The defaults: servers whose certificates the system's authorities vouch for.
  public init() {}
}

/// What is wrong with a certificate, a key, or what is said of them.
public struct TLSFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file.
  public let file: String
  /// What is wrong, in words; nothing of a key's contents.
  public let reason: String

  /// File and reason.
  public var description: String { "\(self.file): \(self.reason)" }

  package init(_ file: String, _ reason: String) {
    self.file = file
    self.reason = reason
  }
}
