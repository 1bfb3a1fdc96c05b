import Foundation
import GRPCNIOTransportHTTP2Posix
import NIOSSL
import SidelightServer

/// TLS for a test: servers and clients that are made while it is current speak it.
struct TestSecurity: Sendable {
  @TaskLocal static var current: TestSecurity?

  /// For the server.
  var server: ServerTLS
  /// For clients of generated code.
  var client: HTTP2ClientTransport.Posix.TransportSecurity
  /// For peers that speak HTTP/2 byte by byte.
  var peer: NIOSSLContext

  /// Runs a test whose servers and clients speak TLS.
  static func withTLS<Result>(_ body: () async throws -> Result) async throws -> Result {
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

/// A folder of certificates and keys that goes with the test.
struct CertificateFolder {
  private let folder: URL

  init() throws {
    self.folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "sidelight-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
  }

  func remove() {
    try? FileManager.default.removeItem(at: self.folder)
  }

  func path(_ name: String) -> String { self.folder.appendingPathComponent(name).path }

  /// Writes a file, in place of one that may be there.
  @discardableResult
  func write(_ text: String, as name: String) throws -> String {
    try Data(text.utf8).write(to: URL(fileURLWithPath: self.path(name)))
    return self.path(name)
  }

  /// Writes a server's certificate and key.
  @discardableResult
  func write(_ identity: TestAuthority.Identity) throws -> ServerTLS {
    ServerTLS(
      certificateChain: try self.write(identity.certificate, as: "server.pem"),
      privateKey: try self.write(identity.key, as: "server.key"))
  }
}

extension HTTP2ClientTransport.Posix.TransportSecurity {
  /// Of a client that trusts an authority, and may show a certificate.
  static func trusting(
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
