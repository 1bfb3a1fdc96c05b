import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import SidelightServer
import SidelightTestSupport
import SidelightWire
import Testing

/// Certificates that change while the server runs.
@Suite(.timeLimit(.minutes(5))) struct CertificateReloadTests {
  let files: CertificateFolder
  let old: TestAuthority
  let new: TestAuthority

  init() throws {
    self.files = try CertificateFolder()
    self.old = try TestAuthority("old")
    self.new = try TestAuthority("new")
  }

  private func isServed(_ address: Address, trusting authority: TestAuthority) async -> Bool {
    do {
      try await withStub(address, security: .trusting(authority)) {
        var options = CallOptions.defaults
        options.waitForReady = false
        _ = try await $0.getServerInfo(.init(), options: options)
      }
      return true
    } catch {
      return false
    }
  }

  @Test
  func `new connections get the new certificate, and open sessions lose no frame`() async throws {
    defer { self.files.remove() }
    var configuration = ServerConfiguration()
    configuration.tls = try self.files.write(try self.old.issueServer())
    try await withServer(configuration) { server, address in
      try await withStub(address, security: .trusting(self.old)) { stub in
        let answers = try await stub.converseInTurn(
          .open(), (1 ... 30).map { .frame($0, .noise(.gray8, 64, 64)) },
          before: { index in
            guard index == 10 else { return }
            #expect(throws: Never.self) {
              try self.files.write(try self.new.issueServer())
              try server.reloadCertificates()
            }
          })
        #expect(answers.frames.count == 30)
        #expect(answers.finalStats?.outcomes == 30)
      }
      #expect(await self.isServed(address, trusting: self.new))
      #expect(await !self.isServed(address, trusting: self.old))
    }
  }

  @Test(
    arguments: ["certificate", "key", "another's key", "nothing", "a folder", "expired", "large"])
  func `errors in the new files are reported, and the old ones stay in use`(defect: String)
    async throws
  {
    defer { self.files.remove() }
    var configuration = ServerConfiguration()
    let tls = try self.files.write(try self.old.issueServer())
    configuration.tls = tls
    try await withServer(configuration) { server, address in
      switch defect {
      case "certificate": try self.files.write("-----BEGIN CERTIFICATE-----", as: "server.pem")
      case "key": try self.files.write("no key", as: "server.key")
      case "another's key":
        try self.files.write(try self.new.issueServer().key, as: "server.key")
      case "nothing": try FileManager.default.removeItem(atPath: tls.certificateChain)
      case "a folder":
        try FileManager.default.removeItem(atPath: tls.privateKey)
        try FileManager.default.createDirectory(
          atPath: tls.privateKey, withIntermediateDirectories: false)
      case "expired":
        try self.files.write(try self.new.issueServer(until: Date(timeIntervalSinceNow: -60)))
      default:
        try self.files.write(String(repeating: "x", count: 2 << 20), as: "server.pem")
      }
      let error = #expect(throws: TLSFileError.self) { try server.reloadCertificates() }
      #expect([tls.certificateChain, tls.privateKey].contains(error?.file))
      #expect(await self.isServed(address, trusting: self.old))
    }
  }

  @Test func `changed client authorities apply to the next connection`() async throws {
    defer { self.files.remove() }
    var tls = try self.files.write(try self.old.issueServer())
    tls.clientCertificates = .required
    tls.clientAuthorities = try self.files.write(self.old.certificate, as: "clients.pem")
    var configuration = ServerConfiguration()
    configuration.tls = tls
    let identities = (old: try self.old.issue("alice"), new: try self.new.issue("alice"))
    try await withServer(configuration) { server, address in
      func served(_ identity: TestAuthority.Identity) async -> Bool {
        let security = HTTP2ClientTransport.Posix.TransportSecurity.trusting(
          self.old, showing: identity)
        return
          (try? await withStub(address, security: security) {
            _ = try await $0.getServerInfo(.init())
          }) != nil
      }
      #expect(await served(identities.old))
      #expect(await !served(identities.new))
      try self.files.write(self.new.certificate, as: "clients.pem")
      try server.reloadCertificates()
      #expect(await !served(identities.old))
      #expect(await served(identities.new))
    }
  }

  @Test func `a server with an invalid certificate does not start`() async throws {
    defer { self.files.remove() }
    var configuration = ServerConfiguration()
    configuration.addresses = [.tcp(host: "127.0.0.1", port: 0)]
    configuration.tls = ServerTLS(
      certificateChain: self.files.path("server.pem"), privateKey: self.files.path("server.key"))
    let server = SidelightServer(configuration: configuration)
    // A caller that waits for the addresses gets the error too.
    async let address = #expect(throws: TLSFileError.self) { try await server.listeningAddresses }
    let error = await #expect(throws: TLSFileError.self) { try await server.run() }
    #expect(await address == error)
    #expect(error?.file == self.files.path("server.pem"))
  }
}
