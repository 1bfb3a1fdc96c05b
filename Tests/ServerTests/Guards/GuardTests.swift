import GRPCCore
import NIOCore
import ServiceLifecycleTestKit
import SidelightServer
import SidelightTestSupport
import SidelightTransport
import SidelightWire
import Testing

/// The guards against their attacks, with the guard active and without it.
@Suite(.timeLimit(.minutes(5)), .serialized) struct GuardTests {
  /// The limit for events that normally occur immediately, on a machine that is busy with other
  /// tests.
  private static let timeout = Duration.seconds(60)

  @Test(arguments: Attack.all + Attack.onCallLimits(over: .webSocket))
  func `each guard stops its attack, and no other guard does`(_ attack: Attack) async throws {
    #expect(try await Self.isStopped(attack) == true)
    var bare = attack
    bare.others.insert(attack.target)
    #expect(try await Self.isStopped(bare) == false, "the harm shows")
  }

  @Test(arguments: Attack.all)
  func `each guard stops its attack over TLS, and no other guard does`(_ attack: Attack)
    async throws
  {
    try await TestSecurity.withTLS {
      try await self.`each guard stops its attack, and no other guard does`(attack)
    }
  }

  /// - Returns: Whether the guard has stopped the attack; `nil` if neither that nor harm shows.
  private static func isStopped(_ attack: Attack) async throws -> Bool? {
    var configuration = ServerConfiguration()
    // Other guards must not act on a slow machine.
    configuration.guards.prefaceTimeout = Self.timeout
    configuration.guards.keepaliveInterval = Self.timeout
    configuration.guards.writeStallTimeout = Self.timeout
    configuration.guards.lingerTimeout = Self.timeout
    attack.configure(&configuration)
    if attack.others.contains(attack.target) { attack.setClock(&configuration) }
    configuration.guards.active.subtract(attack.others)
    let web = attack.carrier == .webSocket ? TokenSite.endpoint : nil
    return try await withServer(configuration, web: web) { server, address in
      let target = web == nil ? address : try #require(try await server.webAddress)
      let isStopped = try await within(Self.timeout) { try await attack.isStopped(server, target) }
      // The count names the guard that acted. PINGs with a response are not counted.
      if isStopped == true, attack.target != .pings {
        #expect(server.guardCounts[attack.target, default: 0] > 0)
      }
      if isStopped == true, attack.target != .connectionCap {
        // The server still serves others. Its timeouts are so short that on a busy machine a guard
        // may close their connection too; they then retry.
        try await expectEventually("others are served") {
          do {
            try await withStub(address) { stub in
              try await SessionLifetimeTests.expectService(of: stub)
            }
            return true
          } catch let error as RPCError where error.code == .unavailable {
            return false
          }
        }
      }
      return isStopped
    }
  }

  @Test func `each guard has an attack`() {
    // `ControlFloodTests` has the attack of message batches.
    #expect(
      Set(Attack.all.map(\.target)).union([.drain, .messageBatches]) == Set(Guard.allCases))
  }

  @Test func `a peer that ignores a shutdown does not delay it`() async throws {
    #expect(try await Self.isDrained(with: Set(Guard.allCases)) == true)
    #expect(try await Self.isDrained(with: Set(Guard.allCases).subtracting([.drain])) == false)
  }

  /// - Returns: Whether the server has ended; `false` if it still sends keepalive PINGs long after.
  private static func isDrained(with guards: Set<Guard>) async throws -> Bool? {
    var configuration = ServerConfiguration()
    configuration.addresses = [.tcp(host: "127.0.0.1", port: 0)]
    configuration.guards.active = guards
    configuration.guards.drainTimeout = Attack.shortTimeout
    configuration.guards.keepaliveInterval =
      guards.contains(.drain) ? Self.timeout : Attack.longAfter
    let server = SidelightServer(configuration: configuration)
    return try await testGracefulShutdown { trigger in
      let (ended, end) = AsyncStream<Never>.makeStream()
      return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          try await server.run()
          end.finish()
        }
        let isDrained = try await withRawPeer(try await server.listeningAddresses[0]) { peer in
          peer.send(RawPeer.preface)
          _ = await peer.next { _ in true }
          trigger.triggerGracefulShutdown()
          return try await within(Self.timeout) {
            if await peer.next(where: \.isKeepalive) != nil { return false }
            for await _ in ended {}
            return true
          }
        }
        group.cancelAll()
        return isDrained
      }
    }
  }

  @Test func `a peer that responds to keepalives stays connected`() async throws {
    var configuration = ServerConfiguration()
    configuration.guards.keepaliveInterval = .milliseconds(5)
    try await withServer(configuration) { _, address in
      try await withRawPeer(address) { peer in
        peer.send(RawPeer.preface)
        for _ in 0 ..< 20 {
          let asked = await peer.next(where: \.isPing)
          #expect(asked != nil)
          peer.send(
            RawPeer.frame(6, flags: 1, stream: 0, asked?.payload ?? ByteBuffer()))
        }
      }
    }
  }

  @Test func `a closed connection releases its slot`() async throws {
    var configuration = ServerConfiguration()
    configuration.guards.maxConnections = 1
    try await withServer(configuration) { _, address in
      for _ in 0 ..< 3 {
        // The server detects a little later that the previous connection is closed.
        try await expectEventually("there is room") {
          try await withRawPeer(address) { peer in
            peer.send(RawPeer.preface)
            peer.ping()
            return await peer.next(where: \.isPingAnswer) != nil
          }
        }
      }
    }
  }

  @Test func `complete messages release their bytes from the budget`() async throws {
    var configuration = ServerConfiguration()
    configuration.guards.maxUnfinishedBytesPerAddress = 600_000
    try await withServer(configuration) { _, address in
      try await withStub(address) { stub in
        let picture = Sidelight_V1_Image.noise(.gray8, 700, 700)
        let answers = try await stub.converse([.open()] + (1 ... 8).map { .frame($0, picture) })
        #expect(answers.frames.count == 8)
      }
    }
  }

  @Test(
    arguments: [
      "-1S", "-9999999H", "+1S", "1", "S", "", "1s", "1.5S", "100000000S", "99999999999999999999S",
      "99999999H", "99999999u",
    ])
  func `a call with any grpc-timeout gets a response`(_ value: String) async throws {
    try await withServer { _, address in
      try await withRawPeer(address) { peer in
        peer.send(RawPeer.preface)
        peer.call(Attack.info, headers: [("grpc-timeout", value)])
        peer.data(RawPeer.message([]), isEnd: true)
        #expect(await peer.status() == 0)
      }
    }
  }

  @Test func `for PINGs beyond the budget the HTTP/2 stack closes the connection`() async throws {
    var configuration = ServerConfiguration()
    configuration.guards.pingBurst = 10
    configuration.guards.pingsPerSecond = 1
    try await withServer(configuration) { server, address in
      try await withRawPeer(address) { peer in
        peer.send(RawPeer.preface)
        for _ in 0 ..< 1000 { peer.ping() }
        await peer.end()
        #expect(server.guardCounts[.pings, default: 0] > 0)
      }
    }
  }

  @Test func `a frame after the end of a stream closes the connection`() async throws {
    try await withServer { server, address in
      try await withRawPeer(address) { peer in
        peer.send(RawPeer.preface)
        peer.call(Attack.process)
        let last = RawPeer.frame(0, flags: 1, stream: 1)
        peer.send(last.appending(last))
        peer.ping()
        #expect(await peer.next(where: \.isPingAnswer) == nil)
      }
      try await expectEventually("the end is counted") { !server.connectionEnds.isEmpty }
      #expect(server.connectionEnds == [.http2: 1])
      #expect(server.guardCounts[.lateFrames] == nil)
    }
  }

  @Test func `a deadline ends a call in time although its handler is stuck`() async throws {
    let gate = Gate()
    try await withServer(catalogue: gate.catalogue) { _, address in
      try await withStub(address) { stub in
        var options = CallOptions.defaults
        options.timeout = .milliseconds(100)
        let answers = Answers()
        let error = await #expect(throws: RPCError.self) {
          try await stub.process(options: options) { writer in
            try await writer.write(.open([.filter("gate")]))
            try await writer.write(.frame(1, .noise(.gray8, 4, 4)))
            for await _ in answers.ended {}
          } onResponse: { response in
            defer { answers.end() }
            for try await _ in response.messages {}
          }
        }
        #expect(error?.code == .deadlineExceeded)
      }
      gate.open(for: 1)
    }
  }

  @Test func `the limit of streams is announced`() async throws {
    var configuration = ServerConfiguration()
    configuration.transport.maxConcurrentStreams = 3
    try await withServer(configuration) { _, address in
      try await withRawPeer(address) { peer in
        peer.send(RawPeer.preface)
        let settings = await peer.next { $0.kind == 4 && $0.flags == 0 }
        // A setting has two bytes of name and four of value.
        let bytes = settings.map { [UInt8]($0.payload.readableBytesView) } ?? []
        #expect(bytes.firstRange(of: [0, 3, 0, 0, 0, 3]) != nil)
      }
    }
  }
}

/// Waits for a result for a limited time.
///
/// - Returns: `nil` if it took longer.
func within<Result: Sendable>(
  _ limit: Duration, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result? {
  try await withThrowingTaskGroup(of: Result?.self) { group in
    group.addTask { try await body() }
    group.addTask {
      // Throws only on cancellation, when `body` has returned first.
      try? await Task.sleep(for: limit)
      return nil
    }
    defer { group.cancelAll() }
    return try await group.next() ?? nil
  }
}
