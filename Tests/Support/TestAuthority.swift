import Crypto
package import Foundation
import SwiftASN1
package import X509

/// An authority that signs certificates for tests. Its key exists in memory only.
package struct TestAuthority {
  /// A certificate and its key.
  package struct Identity {
    /// The certificate, as PEM.
    package var certificate: String
    /// The private key, as PEM.
    package var key: String
  }

  private let key = P256.Signing.PrivateKey()
  private let name: DistinguishedName
  /// Its own certificate, as PEM.
  package let certificate: String

  /// Creates an authority with a new key and a new certificate.
  package init(_ name: String) throws {
    let subject = try DistinguishedName { CommonName(name) }
    self.name = subject
    self.certificate = try Self.sign(
      publicKey: self.key.publicKey, subject: subject, by: (subject, self.key),
      until: .distantFuture,
      extensions: Certificate.Extensions {
        Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
        Critical(KeyUsage(keyCertSign: true))
      })
  }

  /// Signs a certificate.
  ///
  /// - Parameters:
  ///   - name: Its common name.
  ///   - alternatives: Its other names.
  ///   - end: When it expires.
  package func issue(
    _ name: String, alternatives: [GeneralName] = [], until end: Date = .distantFuture
  ) throws -> Identity {
    let key = P256.Signing.PrivateKey()
    let certificate = try Self.sign(
      publicKey: key.publicKey, subject: try DistinguishedName { CommonName(name) },
      by: (self.name, self.key), until: end,
      extensions: Certificate.Extensions {
        Critical(BasicConstraints.notCertificateAuthority)
        try ExtendedKeyUsage([.serverAuth, .clientAuth])
        if !alternatives.isEmpty { SubjectAlternativeNames(alternatives) }
      })
    return Identity(certificate: certificate, key: key.pemRepresentation)
  }

  /// Signs a certificate for 127.0.0.1 and server.example.
  package func issueServer(until end: Date = .distantFuture) throws -> Identity {
    try self.issue(
      "server",
      alternatives: [
        .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])), .dnsName("server.example"),
      ],
      until: end)
  }

  private static func sign(
    publicKey: P256.Signing.PublicKey, subject: DistinguishedName,
    by issuer: (name: DistinguishedName, key: P256.Signing.PrivateKey), until end: Date,
    extensions: Certificate.Extensions
  ) throws -> String {
    // Certificates can express dates up to the year 9999.
    let end = min(end, Date(timeIntervalSince1970: 4_000_000_000))
    return try Certificate(
      version: .v3, serialNumber: Certificate.SerialNumber(),
      publicKey: Certificate.PublicKey(publicKey),
      notValidBefore: Date(timeIntervalSince1970: 1_000_000_000), notValidAfter: end,
      issuer: issuer.name, subject: subject, signatureAlgorithm: .ecdsaWithSHA256,
      extensions: extensions, issuerPrivateKey: Certificate.PrivateKey(issuer.key)
    ).serializeAsPEM().pemString
  }
}
