import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import GRPCProtobuf
import InMemoryTracing
import Logging
import NIOCore
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Synchronization
import Testing

/// Tests of authorization, over real connections.
@Suite(.timeLimit(.minutes(5))) struct AuthenticationTests {
  typealias Connection = GRPCClient<HTTP2ClientTransport.Posix>

  static func bearer(_ token: String) -> Metadata { ["authorization": "Bearer \(token)"] }

  /// A method of a server, and one way to call it.
  struct Method: Sendable, CustomStringConvertible {
    var description: String
    var call: @Sendable (Connection, Metadata) async throws -> Void
  }

  static let health = Method(description: "grpc.health.v1.Health/Check") {
    // Services without generated clients.
    try await $0.unary(
      request: ClientRequest(message: Grpc_Health_V1_HealthCheckRequest(), metadata: $1),
      descriptor: Grpc_Health_V1_Health.Method.Check.descriptor,
      serializer: ProtobufSerializer(),
      deserializer: ProtobufDeserializer<Grpc_Health_V1_HealthCheckResponse>(),
      options: .defaults, onResponse: { _ = try $0.message })
  }

  static let loadReports = Method(description: "xds.service.orca.v3.OpenRcaService") {
    try await Xds_Service_Orca_V3_OpenRcaService.Client(wrapping: $0).streamCoreMetrics(
      .init(), metadata: $1
    ) {
      for try await _ in $0.messages { break }
    }
  }

  static let methods: [Method] = [
    Method(description: "Process") {
      try await Stub(wrapping: $0).process(metadata: $1) {
        try await $0.write(.open())
      } onResponse: {
        for try await _ in $0.messages {}
      }
    },
    Method(description: "Apply") {
      _ = try await Stub(wrapping: $0).apply(
        .with { $0.image = .noise(.gray8, 4, 4) }, metadata: $1)
    },
    Method(description: "CheckPipeline") {
      _ = try await Stub(wrapping: $0).checkPipeline(.with { $0.text = "" }, metadata: $1)
    },
    Method(description: "ListFilters") {
      _ = try await Stub(wrapping: $0).listFilters(.init(), metadata: $1)
    },
    Method(description: "DescribeFilter") {
      _ = try await Stub(wrapping: $0).describeFilter(
        .with { $0.name = "sepiaTone" }, metadata: $1)
    },
    Method(description: "GetServerInfo") {
      _ = try await Stub(wrapping: $0).getServerInfo(.init(), metadata: $1)
    },
    Method(description: "Place") {
      _ = try await Stub(wrapping: $0).place(.init(), metadata: $1)
    },
    Method(description: "ListSessions") {
      _ = try await Sidelight_V1_Sessions.Client(wrapping: $0).listSessions(.init(), metadata: $1)
    },
    Method(description: "WatchSessions") {
      try await Sidelight_V1_Sessions.Client(wrapping: $0).watchSessions(.init(), metadata: $1) {
        for try await _ in $0.messages { break }
      }
    },
    Method(description: "OverrideSession") {
      _ = try await Sidelight_V1_Sessions.Client(wrapping: $0).overrideSession(
        .init(), metadata: $1)
    },
    Method(description: "CloseSession") {
      _ = try await Sidelight_V1_Sessions.Client(wrapping: $0).closeSession(.init(), metadata: $1)
    },
    Method(description: "MoveSession") {
      _ = try await Sidelight_V1_Sessions.Client(wrapping: $0).moveSession(.init(), metadata: $1)
    },
    Method(description: "ServerReflectionInfo") {
      try await $0.bidirectionalStreaming(
        request: StreamingClientRequest(
          of: Grpc_Reflection_V1_ServerReflectionRequest.self, metadata: $1
        ) { try await $0.write(.with { $0.listServices = "" }) },
        descriptor: Grpc_Reflection_V1_ServerReflection.Method.ServerReflectionInfo.descriptor,
        serializer: ProtobufSerializer(),
        deserializer: ProtobufDeserializer<Grpc_Reflection_V1_ServerReflectionResponse>(),
        options: .defaults, onResponse: { for try await _ in $0.messages {} })
    },
  ]

  /// Returns the end of a call, with the server's reason; `nil` for success.
  static func refusal(
    _ method: Method, _ connection: Connection, _ metadata: Metadata
  ) async throws -> (code: RPCError.Code, reason: String?)? {
    do {
      try await method.call(connection, metadata)
      return nil
    } catch let error as RPCError {
      let info = try error.unpackGoogleRPCStatus()?.details.compactMap(\.errorInfo).first
      return (error.code, info?.reason)
    }
  }

  @Test func `without credentials only health and load are available`() async throws {
    try await withServer(authenticator: TokenTable.three) { _, address in
      try await withConnection(address) { connection in
        #expect(try await Self.refusal(Self.health, connection, [:]) == nil)
        #expect(try await Self.refusal(Self.loadReports, connection, [:]) == nil)
        for method in Self.methods {
          let refusal = try await Self.refusal(method, connection, [:])
          #expect(refusal?.code == .unauthenticated, "\(method)")
          #expect(refusal?.reason == "CREDENTIALS_MISSING", "\(method)")
        }
      }
    }
  }

  @Test func `an invalid token is refused, even with a valid certificate`() async throws {
    let values = [
      "Bearer unknown", "Bearer", "Bearer ", "alice", "Basic alice", "Bearer  alice",
      "Bearer alice bob", "bearer=alice", "",
    ]
    try await withServer(authenticator: TokenTable.three) { _, address in
      try await withConnection(address) { connection in
        for value in values {
          let refusal = try await Self.refusal(
            Self.methods[5], connection, ["authorization": "\(value)"])
          #expect(refusal?.code == .unauthenticated, "\(value)")
          #expect(refusal?.reason == "TOKEN_INVALID", "\(value)")
        }
        var twice = Self.bearer("alice")
        twice.addString("Bearer alice", forKey: "authorization")
        let refusal = try await Self.refusal(Self.methods[5], connection, twice)
        #expect(refusal?.code == .unauthenticated)
        #expect(try await Self.refusal(Self.methods[5], connection, Self.bearer("alice")) == nil)
        #expect(
          try await Self.refusal(
            Self.methods[5], connection, ["authorization": "bEARER alice"]) == nil)
      }
    }
  }

  @Test func `each method requires its scope`() async throws {
    let operators: Set = [
      "ListSessions", "WatchSessions", "OverrideSession", "CloseSession", "MoveSession",
    ]
    let everybodys: Set = ["ListFilters", "DescribeFilter", "GetServerInfo"]
    try await withServer(authenticator: TokenTable.three) { _, address in
      try await withConnection(address) { connection in
        for method in Self.methods {
          let name = method.description
          for (token, isAllowed) in [
            ("alice", !operators.contains(name)),
            ("operator", operators.contains(name) || everybodys.contains(name)),
            ("nobody", false),
          ] {
            let refusal = try await Self.refusal(method, connection, Self.bearer(token))
            if isAllowed {
              // Other errors of a call are reported once the caller may make it.
              #expect(
                [nil, .notFound, .failedPrecondition].contains(refusal?.code), "\(token) \(name)")
            } else {
              #expect(refusal?.code == .permissionDenied, "\(token) \(name)")
              #expect(refusal?.reason == "SCOPE_MISSING", "\(token) \(name)")
            }
          }
        }
      }
    }
  }

  @Test func `an unlisted method requires the scope operate`() {
    #expect(MethodAccess(service: "sidelight.v1.FrameFilter", method: "New") == .anyOf([.operate]))
    #expect(MethodAccess(service: "sidelight.v9.New", method: "Get") == .anyOf([.operate]))
    #expect(MethodAccess(service: "sidelight.v1.Assets", method: "PutAsset") == .anyOf([.assets]))
  }

  @Test
  func `a refused caller has no session, and its further messages are discarded`() async throws {
    try await withServer(authenticator: TokenTable.three) { server, address in
      try await withRawPeer(address) { peer in
        peer.send(RawPeer.preface)
        peer.call(Attack.process, headers: [("authorization", "Bearer unknown")])
        // A frame is announced, and a part of it follows.
        peer.data(RawPeer.message(Array(repeating: 0, count: 16000), length: 40 << 20))
        #expect(await peer.status() == 16)
        for _ in 0 ..< 100 { peer.data(ByteBuffer(repeating: 0, count: 16000)) }
        peer.ping()
        #expect(await peer.next(where: \.isPingAnswer) != nil)
        #expect(server.sessionCount == 0)
        #expect(server.poolStatistics.bytesInUse == 0)
      }
    }
  }

  @Test func `neither logs nor spans contain a token`() async throws {
    let secret = "very.secret.token"
    var table = TokenTable.three
    table.principals[secret] = Principal(name: "sub:carol@test", scopes: .participant)
    let log = CollectedLog()
    var logger = Logger(label: "test") { _ in log }
    logger.logLevel = .trace
    let tracer = W3CTracer()
    try await withServer(authenticator: table, tracer: tracer, logger: logger) { _, address in
      try await withStub(address) { stub in
        for token in [secret, "\(secret)x", "\(secret) x"] {
          _ = try? await stub.process(metadata: Self.bearer(token)) {
            try await $0.write(.open())
            try await $0.write(.frame(1, .noise(.gray8, 4, 4)))
          } onResponse: {
            for try await _ in $0.messages {}
          }
        }
      }
    }
    #expect(log.lines.contains { $0.contains("sub:carol@test") })
    #expect(log.lines.contains { $0.contains("TOKEN_INVALID") })
    #expect(!log.lines.contains { $0.contains(secret) })
    let spans = tracer.memory.finishedSpans.map { "\($0.operationName) \($0.attributes)" }
    #expect(spans.contains { $0.contains("sub:carol@test") })
    #expect(!spans.contains { $0.contains(secret) })
  }

  @Test func `on Unix sockets callers are identified by user and group id`() async throws {
    let folder = try SocketFolder()
    defer { folder.remove() }
    let (user, group) = (UInt32(geteuid()), UInt32(getegid()))
    let cases: [([UInt32: Set<Scope>], [UInt32: Set<Scope>], RPCError.Code?)] = [
      ([user: [.stream]], [:], nil),
      ([:], [group: [.stream]], nil),
      ([user: [.operate]], [group: [.stream]], nil),
      ([user: [.operate]], [:], .permissionDenied),
      ([user + 1: .all], [group + 1: .all], .unauthenticated),
    ]
    for (users, groups, code) in cases {
      var configuration = ServerConfiguration()
      configuration.identity.unixUsers = users
      configuration.identity.unixGroups = groups
      let addresses: [Address] = [.unix(path: folder.file()), .tcp(host: "127.0.0.1", port: 0)]
      try await withServer(configuration, listeningOn: addresses) { server, address in
        let byUnix = try await withConnection(address) {
          try await Self.refusal(Self.methods[0], $0, [:])
        }
        #expect(byUnix?.code == code)
        // An address isn't proof of identity.
        let byTCP = try await withConnection(try await server.listeningAddresses[1]) {
          try await Self.refusal(Self.methods[0], $0, [:])
        }
        #expect(byTCP?.code == .unauthenticated)
      }
    }
  }

  @Test func `a caller cannot claim to be on this host`() {
    for name in ["unix:uid=0", "ipv4:127.0.0.1", "sub:x ipv4:127.0.0.1:1@test"] {
      let far = Caller(
        peer: "ipv4:192.0.2.1:5", principal: Principal(name: name, scopes: .all))
      #expect(!far.isLocal)
      // Rings are granted by the description.
      #expect(!Caller(peer: far.description).isLocal)
      #expect(far.name == name)
    }
    let near = Caller(peer: "ipv4:127.0.0.1:5", principal: Principal(name: "x", scopes: []))
    #expect(near.isLocal && Caller(peer: near.description).isLocal)
  }

  @Test func `changed rules apply to later calls`() async throws {
    let folder = try SocketFolder()
    defer { folder.remove() }
    var configuration = ServerConfiguration()
    configuration.identity.unixUsers = [UInt32(geteuid()): .all]
    try await withServer(
      configuration, listeningOn: [.unix(path: folder.file())]
    ) { server, address in
      try await withConnection(address) { connection in
        #expect(try await Self.refusal(Self.methods[5], connection, [:]) == nil)
        server.identity.unixUsers = [UInt32(geteuid()) + 1: .all]
        let refusal = try await Self.refusal(Self.methods[5], connection, [:])
        #expect(refusal?.code == .unauthenticated)
        server.identity = IdentityConfiguration()
        let closed = try await Self.refusal(Self.methods[5], connection, [:])
        #expect(closed?.code == .unauthenticated, "rules that name nobody open nothing")
      }
    }
  }
}

/// Keeps the log entries.
final class CollectedLog: LogHandler {
  private let collected = Mutex<[String]>([])

  var lines: [String] { self.collected.withLock { $0 } }
  var metadata: Logger.Metadata {
    get { [:] }
    set {}
  }
  var logLevel: Logger.Level {
    get { .trace }
    set {}
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { nil }
    set {}
  }

  func log(event: LogEvent) {
    self.collected.withLock { $0.append("\(event.message) \(event.metadata ?? [:])") }
  }
}
