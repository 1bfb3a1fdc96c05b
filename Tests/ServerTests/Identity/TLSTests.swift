import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOCore
import SidelightServer
import SidelightTestSupport
import SidelightWire
import Testing
import X509

/// TLS on TCP addresses, with real handshakes on loopback.
@Suite(.timeLimit(.minutes(5))) struct TLSTests {
  typealias Security = HTTP2ClientTransport.Posix.TransportSecurity

  let files: CertificateFolder
  let authority: TestAuthority
  let stranger: TestAuthority

  init() throws {
    self.files = try CertificateFolder()
    self.authority = try TestAuthority("authority")
    self.stranger = try TestAuthority("stranger")
  }

  /// A server with a good certificate.
  private func configuration(
    _ configure: (inout ServerTLS) throws -> Void = { _ in }
  ) throws -> ServerConfiguration {
    var configuration = ServerConfiguration()
    var tls = try self.files.write(try self.authority.issueServer())
    try configure(&tls)
    configuration.tls = tls
    return configuration
  }

  private func requiringCertificates() throws -> ServerConfiguration {
    try self.configuration {
      $0.clientCertificates = .required
      $0.clientAuthorities = try self.files.write(self.authority.certificate, as: "clients.pem")
    }
  }

  /// Asks for something; whether that was answered.
  private static func isServed(_ address: Address, _ security: Security) async throws -> Bool {
    do {
      try await withStub(address, security: security) {
        var options = CallOptions.defaults
        options.waitForReady = false
        _ = try await $0.getServerInfo(.init(), options: options)
      }
      return true
    } catch let error as RPCError {
      #expect(error.code == .unavailable, "\(error)")
      return false
    }
  }

  private static func expect(
    served isExpected: Bool, _ address: Address, _ security: Security,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let isServed = try await Self.isServed(address, security)
    #expect(isServed == isExpected, sourceLocation: sourceLocation)
  }

  @Test
  func `clients that trust the server's authority are served, others disconnect`() async throws {
    defer { self.files.remove() }
    try await withServer(try self.configuration()) { _, address in
      try await Self.expect(served: true, address, .trusting(self.authority))
      try await Self.expect(served: false, address, .trusting(self.stranger))
      try await Self.expect(served: true, address, .trusting(self.authority))
    }
  }

  @Test func `a session works over TLS`() async throws {
    defer { self.files.remove() }
    try await withServer(try self.configuration()) { _, address in
      try await withStub(address, security: .trusting(self.authority)) { stub in
        let image = Sidelight_V1_Image.noise(.i420, 320, 240)
        let answers = try await stub.converse(
          [.open()] + (1 ... 20).map { .frame($0, image) })
        #expect(answers.frames.map(\.image.inline) == Array(repeating: image.inline, count: 20))
      }
    }
  }

  @Test func `plaintext on a TLS port is not served, and affects no other client`() async throws {
    defer { self.files.remove() }
    try await withServer(try self.configuration()) { _, address in
      try await Self.expect(served: false, address, .plaintext)
      try await withRawPeer(address, isPlain: true) { peer in
        peer.send(RawPeer.preface)
        await peer.end()
      }
      try await Self.expect(served: true, address, .trusting(self.authority))
    }
  }

  /// Whether a server and a client with these settings come to speak HTTP/2.
  private static func speaks(_ security: TestSecurity) async throws -> Bool {
    try await TestSecurity.$current.withValue(security) {
      try await withServer { _, address in
        try await withRawPeer(address) { peer in
          peer.send(RawPeer.preface)
          return await peer.next { _ in true } != nil
        }
      }
    }
  }

  @Test func `without HTTP/2 in ALPN the handshake fails`() async throws {
    defer { self.files.remove() }
    try await TestSecurity.withTLS {
      var security = try #require(TestSecurity.current)
      security.peer = try .trustingAll(protocols: ["http/1.1"])
      #expect(try await !Self.speaks(security))
    }
  }

  @Test func `TLS versions below the minimum are refused`() async throws {
    defer { self.files.remove() }
    try await TestSecurity.withTLS {
      var security = try #require(TestSecurity.current)
      for (server, client, isSpoken) in [
        (ServerTLS.Version.tls12, 2, true), (.tls12, 1, false), (.tls13, 2, false),
      ] {
        security.server.minimumVersion = server
        security.peer = try .trustingAll(maximumMinorVersion: client)
        #expect(try await Self.speaks(security) == isSpoken)
      }
    }
  }

  @Test(
    arguments: [("ECDHE-ECDSA-AES128-GCM-SHA256", true), ("ECDHE-ECDSA-AES128-SHA", false)])
  func `with TLS 1.2 only the cipher suites that HTTP/2 allows are accepted`(
    _ ciphers: String, isSpoken: Bool
  ) async throws {
    defer { self.files.remove() }
    try await TestSecurity.withTLS {
      var security = try #require(TestSecurity.current)
      security.peer = try .trustingAll(maximumMinorVersion: 2, ciphers: ciphers)
      #expect(try await Self.speaks(security) == isSpoken)
    }
  }

  @Test func `only the preface guard closes a connection without a handshake`() async throws {
    defer { self.files.remove() }
    // An empty opening, and the head of a record whose rest never comes.
    for opening in [[], [22, 3, 1, 2, 0, 1]] as [[UInt8]] {
      let isStopped = try await self.isClosed(
        opening, guards: Set(Guard.allCases), within: .seconds(60))
      #expect(isStopped)
      let isStoppedWithout = try await self.isClosed(
        opening, guards: Set(Guard.allCases).subtracting([.preface]), within: .milliseconds(600))
      #expect(!isStoppedWithout)
    }
  }

  private func isClosed(
    _ opening: [UInt8], guards: Set<Guard>, within limit: Duration
  ) async throws -> Bool {
    var configuration = try self.configuration()
    configuration.guards.prefaceTimeout = Attack.shortTimeout
    configuration.guards.active = guards
    return try await withServer(configuration) { server, address in
      try await within(limit) {
        try await withRawPeer(address, isPlain: true) { peer in
          if !opening.isEmpty { peer.send(ByteBuffer(bytes: opening)) }
          await peer.end()
          return !Task.isCancelled
        }
      } ?? false
    }
  }

  @Test func `required certificates must be from the configured authority`() async throws {
    defer { self.files.remove() }
    let good = try self.authority.issue("alice")
    let forged = try self.stranger.issue("alice")
    let expired = try self.authority.issue("alice", until: Date(timeIntervalSinceNow: -60))
    try await withServer(try self.requiringCertificates()) { _, address in
      for (identity, isServed) in [(good, true), (forged, false), (expired, false), (nil, false)] {
        let security = Security.trusting(self.authority, showing: identity)
        try await Self.expect(served: isServed, address, security)
      }
    }
  }

  @Test
  func `a caller with a certificate is identified by its name, and gets the first matching rule`()
    async throws
  {
    defer { self.files.remove() }
    var configuration = try self.requiringCertificates()
    configuration.identity.certificates = [
      CertificateRule(name: "uri:spiffe://example/operator", scopes: .all),
      CertificateRule(name: "dns:*", scopes: [.stream]),
    ]
    let boss = try self.authority.issue(
      "boss",
      alternatives: [
        .dnsName("boss.example"), .uniformResourceIdentifier("spiffe://example/operator"),
      ])
    let camera = try self.authority.issue("camera", alternatives: [.dnsName("Camera.example")])
    let stranger = try self.authority.issue("nobody")
    try await withServer(configuration) { _, address in
      let peer = try await self.peer(of: camera, seenBy: boss, at: address)
      #expect(peer.hasPrefix("ipv4:127.0.0.1:"))
      #expect(peer.hasSuffix(" as cert:dns:camera.example"))
      let refusal = await #expect(throws: RPCError.self) {
        try await self.peer(of: stranger, seenBy: boss, at: address)
      }
      #expect(refusal?.code == .permissionDenied)
      let nosy = await #expect(throws: RPCError.self) {
        try await self.peer(of: camera, seenBy: camera, at: address)
      }
      #expect(nosy?.code == .permissionDenied)
    }
  }

  /// Returns a session's peer, as an operator with another certificate sees it.
  private func peer(
    of participant: TestAuthority.Identity, seenBy operator: TestAuthority.Identity,
    at address: Address
  ) async throws -> String {
    let operatorSecurity = Security.trusting(self.authority, showing: `operator`)
    return try await withStub(
      address, security: .trusting(self.authority, showing: participant)
    ) { stub in
      let (end, ended) = AsyncStream<Never>.makeStream()
      return try await stub.process { writer in
        try await writer.write(.open())
        for await _ in end {}
      } onResponse: { response in
        defer { ended.finish() }
        for try await message in response.messages {
          guard case .opened? = message.kind else { continue }
          return try await withConnection(address, security: operatorSecurity) {
            try await Sidelight_V1_Sessions.Client(wrapping: $0).listSessions(.init())
              .sessions.first?.peer ?? ""
          }
        }
        return ""
      }
    }
  }

  @Test func `a session ends when the certificate of its connection expires`() async throws {
    defer { self.files.remove() }
    let clock = ManualClock()
    // TLS looks at the real time, the server at the test's, which is years before.
    let end = Date(timeIntervalSinceNow: 3600)
    let alice = try self.authority.issue("alice", until: end)
    let configuration = try self.requiringCertificates()
    try await withServer(configuration, clock: clock.sessionClock) { server, address in
      try await withStub(
        address, security: .trusting(self.authority, showing: alice)
      ) { stub in
        let answers = Answers()
        let error = await #expect(throws: RPCError.self) {
          try await stub.process { writer in
            try await writer.write(.open())
            for await _ in answers.ended {}
          } onResponse: { response in
            defer { answers.end() }
            var ticking: Task<Void, Never>?
            defer { ticking?.cancel() }
            for try await message in response.messages {
              guard case .opened? = message.kind else { continue }
              let now = Duration.nanoseconds(
                Int64(clamping: clock.sessionClock.nanosecondsSince1970()))
              let left = Duration.seconds(end.timeIntervalSince1970) - now
              clock.advance(by: left - .seconds(60))
              #expect(server.sessionCount == 1)
              // The server may begin to wait after the first advance.
              ticking = Task {
                while !Task.isCancelled {
                  clock.advance(by: .seconds(61))
                  await Task.yield()
                }
              }
            }
          }
        }
        #expect(error?.code == .unauthenticated)
      }
    }
  }

  @Test func `an optional certificate may be absent, but must be valid`() async throws {
    defer { self.files.remove() }
    var configuration = try self.requiringCertificates()
    configuration.tls?.clientCertificates = .optional
    let good = try self.authority.issue("alice")
    let forged = try self.stranger.issue("alice")
    try await withServer(configuration) { _, address in
      try await Self.expect(served: true, address, .trusting(self.authority, showing: good))
      try await Self.expect(served: false, address, .trusting(self.authority, showing: forged))
      // The handshake succeeds, but the caller is unknown.
      let error = await #expect(throws: RPCError.self) {
        try await withStub(address, security: .trusting(self.authority)) {
          _ = try await $0.getServerInfo(.init())
        }
      }
      #expect(error?.code == .unauthenticated)
    }
  }
}
