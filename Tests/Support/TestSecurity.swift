import Foundation
package import GRPCNIOTransportHTTP2Posix
package import NIOSSL
package import SidelightServer

/// TLS for a test: servers and clients that are created while it is current use it.
package struct TestSecurity: Sendable {
  /// The TLS of the running test; `nil` disables TLS.
  @TaskLocal package static var current: TestSecurity?

  /// The files of the server.
  package var server: ServerTLS
  /// The settings of clients of generated code.
  package var client: HTTP2ClientTransport.Posix.TransportSecurity
  /// The context of peers that speak HTTP/2 byte by byte.
  package var peer: NIOSSLContext

  /// Runs a test whose servers and clients use TLS.
  package static func withTLS<Result>(_ body: () async throws -> Result) async throws -> Result {
    let files = try CertificateFolder()
    defer { files.remove() }
    let authority = try TestAuthority("authority")
    let tls = try files.write(try authority.issueServer())
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.trustRoots = .certificates(
      try NIOSSLCertificate.fromPEMBytes([UInt8](authority.certificate.utf8)))
    configuration.applicationProtocols = ["h2"]
    let security = TestSecurity(
      server: tls, client: .trusting(authority),
      peer: try NIOSSLContext(configuration: configuration))
    return try await Self.$current.withValue(security, operation: body)
  }
}

/// A temporary folder of certificates and keys.
package struct CertificateFolder {
  private let folder: URL

  /// Creates an empty folder.
  package init() throws {
    self.folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "sidelight-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
  }

  /// Removes the folder and its files.
  package func remove() {
    try? FileManager.default.removeItem(at: self.folder)
  }

  /// Returns the path of a file in the folder.
  package func path(_ name: String) -> String { self.folder.appendingPathComponent(name).path }

  /// Writes or replaces a file, and returns its path.
  @discardableResult
  package func write(_ text: String, as name: String) throws -> String {
    try Data(text.utf8).write(to: URL(fileURLWithPath: self.path(name)))
    return self.path(name)
  }

  /// Writes a server's certificate and key.
  @discardableResult
  package func write(_ identity: TestAuthority.Identity) throws -> ServerTLS {
    ServerTLS(
      certificateChain: try self.write(identity.certificate, as: "server.pem"),
      privateKey: try self.write(identity.key, as: "server.key"))
  }
}

extension HTTP2ClientTransport.Posix.TransportSecurity {
  /// Returns the TLS of a client that trusts an authority, optionally with a certificate.
  package static func trusting(
    _ authority: TestAuthority, showing identity: TestAuthority.Identity? = nil
  ) -> Self {
    .tls(
      .defaults {
        $0.trustRoots = .certificates([.bytes([UInt8](authority.certificate.utf8), format: .pem)])
        if let identity {
          $0.certificateChain = [.bytes([UInt8](identity.certificate.utf8), format: .pem)]
          $0.privateKey = .bytes([UInt8](identity.key.utf8), format: .pem)
        }
      })
  }
}
