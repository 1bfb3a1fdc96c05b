/// The TLS of a server's TCP addresses. Unix sockets don't use TLS: the kernel authenticates their
/// peers.
public struct ServerTLS: Sendable, Hashable {
  /// The use of client certificates.
  public enum ClientCertificates: String, Sendable, Hashable, CaseIterable {
    /// Clients are not asked for a certificate.
    case none
    /// A certificate must be valid; a client without one may use a token.
    case optional
    /// A client without a valid certificate cannot connect, not even for health checks.
    case required
  }

  /// The oldest accepted version of TLS.
  public enum Version: String, Sendable, Hashable, CaseIterable {
    /// TLS 1.2 (RFC 5246).
    case tls12 = "1.2"
    /// TLS 1.3 (RFC 8446).
    case tls13 = "1.3"
  }

  /// - `certificateChain` (path, required): a PEM file with the server's certificate, then the
  ///   intermediate ones up to the authority that clients trust.
  public var certificateChain: String
  /// - `privateKey` (path, required): a PEM file with the certificate's key, not encrypted.
  public var privateKey: String
  /// - `clientCertificates` (default: ``ClientCertificates/none``): the use of client certificates.
  public var clientCertificates = ClientCertificates.none
  /// - `clientAuthorities` (path, required with client certificates): a PEM file with the
  ///   authorities that sign them. It has no default, because public authorities sign certificates
  ///   for every client.
  public var clientAuthorities: String?
  /// - `minimumVersion` (default: 1.2): the oldest accepted version of TLS.
  public var minimumVersion = Version.tls12

  /// - Parameters:
  ///   - certificateChain: The path of a PEM file.
  ///   - privateKey: The path of a PEM file.
  public init(certificateChain: String, privateKey: String) {
    self.certificateChain = certificateChain
    self.privateKey = privateKey
  }
}

/// The TLS of a client's connections over TCP. Unix sockets don't use TLS.
///
/// Every connection reads the files again, so a replaced file applies to the next one.
public struct ClientTLS: Sendable, Hashable {
  /// - `authorities` (path, optional, default: the system's authorities): a PEM file with the
  ///   authorities that sign certificates of servers.
  public var authorities: String?
  /// - `certificateChain` (path, optional, default: `nil`): a PEM file with this client's
  ///   certificate, for servers that require one.
  public var certificateChain: String?
  /// - `privateKey` (path, required with `certificateChain`): a PEM file with its key, not
  ///   encrypted.
  public var privateKey: String?
  /// - `serverName` (optional, default: the host of the address): the name that the server's
  ///   certificate must have. For an IP address without a name it is the IP address.
  public var serverName: String?

  /// The defaults: servers whose certificates are signed by the system's authorities.
  public init() {}
}

/// An invalid certificate, key, or setting of TLS.
public struct TLSFileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file.
  public let file: String
  /// The reason, for a message. It never contains a key's contents.
  public let reason: String

  /// File and reason.
  public var description: String { "\(self.file): \(self.reason)" }

  package init(_ file: String, _ reason: String) {
    self.file = file
    self.reason = reason
  }
}
