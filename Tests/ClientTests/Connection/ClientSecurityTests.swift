import Foundation
import GRPCCore
import SidelightClient
import SidelightServer
import SidelightTestSupport
import SidelightWire
import Synchronization
import Testing
import X509

/// The client library and its server, which trust one another.
@Suite(.timeLimit(.minutes(5))) struct ClientSecurityTests {
  let files: CertificateFolder
  let authority: TestAuthority

  init() throws {
    self.files = try CertificateFolder()
    self.authority = try TestAuthority("authority")
  }

  private func server() throws -> ServerConfiguration {
    var configuration = ServerConfiguration()
    configuration.tls = try self.files.write(try self.authority.issueServer())
    return configuration
  }

  private func tls(trusting authority: TestAuthority? = nil) throws -> ClientTLS {
    var tls = ClientTLS()
    tls.authorities = try self.files.write(
      (authority ?? self.authority).certificate, as: "authorities.pem")
    return tls
  }

  /// Sends a frame through a session.
  private static func send(_ address: Address, _ security: ClientSecurity) async throws {
    try await SidelightClient.connect(to: address, security: security) { client in
      try await client.withSession { session in
        await session.send(VideoFrame(try picture()))
        for try await outcome in session.outcomes {
          #expect(outcome.picture != nil)
          break
        }
      }
    }
  }

  @Test
  func `a session over TLS, to an address by its number and by a name that is asked for`()
    async throws
  {
    defer { self.files.remove() }
    try await withServer(try self.server()) { _, address in
      var tls = try self.tls()
      try await Self.send(address, ClientSecurity(tls: tls))
      tls.serverName = "server.example"
      try await Self.send(address, ClientSecurity(tls: tls))
      tls.serverName = "other.example"
      let error = await #expect(throws: RPCError.self) {
        try await Self.send(address, ClientSecurity(tls: tls))
      }
      #expect(error?.code == .unavailable)
    }
  }

  @Test func `a server that strangers vouch for is turned away from`() async throws {
    defer { self.files.remove() }
    try await withServer(try self.server()) { _, address in
      let tls = try self.tls(trusting: try TestAuthority("stranger"))
      let error = await #expect(throws: RPCError.self) {
        try await Self.send(address, ClientSecurity(tls: tls))
      }
      #expect(error?.code == .unavailable)
    }
  }

  @Test
  func `a client shows its certificate, also on connections that sessions share`() async throws {
    defer { self.files.remove() }
    var configuration = try self.server()
    configuration.tls?.clientCertificates = .required
    configuration.tls?.clientAuthorities = try self.files.write(
      self.authority.certificate, as: "clients.pem")
    let identity = try self.authority.issue("sfu", alternatives: [.dnsName("sfu.example")])
    var tls = try self.tls()
    tls.certificateChain = try self.files.write(identity.certificate, as: "sfu.pem")
    tls.privateKey = try self.files.write(identity.key, as: "sfu.key")
    let security = ClientSecurity(tls: tls)
    try await withServer(configuration) { _, address in
      try await Self.send(address, security)
      var transport = TransportConfiguration()
      transport.connections = 1
      try await SidelightClient.connect(to: address, transport: transport, security: security) {
        try await $0.withSession { _ in }
      }
    }
  }

  @Test func `calls carry their tokens, stills too`() async throws {
    defer { self.files.remove() }
    try await withServer(
      try self.server(), authenticator: TokenTable.three
    ) { _, address in
      let tls = try self.tls()
      try await Self.send(address, ClientSecurity(tls: tls, token: { "alice" }))
      for (token, code) in [
        ("mallory", RPCError.Code.unauthenticated), ("nobody", .permissionDenied),
      ] {
        let error = await #expect(throws: RPCError.self) {
          try await Self.send(address, ClientSecurity(tls: tls, token: { token }))
        }
        #expect(error?.code == code)
      }
      let error = await #expect(throws: RPCError.self) {
        try await SidelightClient.connect(
          to: address,
          security: ClientSecurity(tls: tls, token: { throw CocoaError(.fileNoSuchFile) })
        ) { _ = try await $0.apply([], toFile: [], as: .png) }
      }
      #expect(error?.code == .unauthenticated)
      #expect(error?.message.hasPrefix("There is no token for the call") == true)
    }
  }

  @Test func `a session whose token expires goes on with the next one`() async throws {
    let clock = ManualClock()
    let now = Duration.nanoseconds(
      Int64(clamping: clock.sessionClock.nanosecondsSince1970()))
    let table = TokenTable([
      "first": Principal(name: "sub:alice@test", scopes: .all, expires: now + .seconds(60)),
      "second": Principal(name: "sub:alice@test", scopes: .all),
    ])
    let asked = Mutex(0)
    let security = ClientSecurity(token: {
      asked.withLock { count in
        defer { count += 1 }
        return count == 0 ? "first" : "second"
      }
    })
    try await withServer(authenticator: table, clock: clock.sessionClock) { _, address in
      try await SidelightClient.connect(to: address, security: security) { client in
        let options = SessionOptions(
          pipeline: [.filter("sepiaTone")],
          // Disables other reasons to reconnect on a busy machine.
          reconnect: ReconnectPolicy(
            initialDelay: .milliseconds(1), maxDelay: .milliseconds(1), openTimeout: .seconds(300),
            silenceLimit: .seconds(300)))
        try await client.withSession(options) { session in
          await session.send(VideoFrame(try picture()))
          var events = session.events.makeAsyncIterator()
          while let event = try await events.next() {
            if case .outcome(.filtered) = event { break }
          }
          try await expectEventually("the server waits for the token's end") {
            clock.isAwaited(in: .seconds(60))
          }
          clock.advance(by: .seconds(60))
          var isResumed: Bool?
          while let event = try await events.next() {
            guard case .connection(.restored(_, let resumed)) = event else { continue }
            isResumed = resumed
            break
          }
          // The token for resuming was the same caller's.
          #expect(isResumed == true)
          await session.send(VideoFrame(try picture()))
          while let event = try await events.next() {
            if case .outcome(let outcome) = event {
              #expect(outcome.picture != nil)
              break
            }
          }
        }
      }
    }
    #expect(asked.withLock { $0 } == 2)
  }

  @Test
  func `an insecure or unreadable security setting is refused before anything is sent`()
    async throws
  {
    defer { self.files.remove() }
    let far = Address.tcp(host: "192.0.2.1", port: 443)
    var noKey = ClientTLS()
    noKey.certificateChain = "client.pem"
    var noFile = ClientTLS()
    noFile.authorities = self.files.path("none.pem")
    var noPEM = ClientTLS()
    noPEM.authorities = try self.files.write("none", as: "text.pem")
    var number = ClientTLS()
    number.serverName = "192.0.2.1"
    for (security, setting) in [
      (ClientSecurity(tls: number), "security.tls.serverName"),
      (ClientSecurity(token: { "alice" }), "security.token"),
      (ClientSecurity(tls: noKey), "security.tls.privateKey"),
      (ClientSecurity(tls: noFile), "security.tls.authorities"),
      (ClientSecurity(tls: noPEM), "security.tls"),
    ] {
      let fault = await #expect(throws: ConfigurationError.self) {
        try await Self.send(far, security)
      }
      #expect(fault?.setting == setting)
    }
  }
}
