import Foundation
import SidelightServer
import SidelightTestSupport
import SidelightWire
import Testing

/// Tests of sockets that another process holds for servers.
@Suite(.timeLimit(.minutes(5))) struct ListeningSocketTests {
  /// Serves on a socket using a separate descriptor, as another process would.
  static func serve(
    on socket: ListeningSocket, _ body: @Sendable (Address) async throws -> Void
  ) async throws {
    var configuration = ServerConfiguration()
    configuration.computeThreads = 1
    configuration.listeningDescriptors = [dup(socket.descriptor)]
    try await withServer(configuration, listeningOn: [socket.address]) { _, address in
      try await body(address)
    }
  }

  static func expectAnswers(_ address: Address) async throws {
    let version = try await withStub(address) { try await $0.getServerInfo(.init()).version }
    #expect(version == SidelightVersion.current)
  }

  @Test(arguments: ["127.0.0.1", "::1", "localhost"])
  func `servers come and go, and the socket stays where it is`(host: String) async throws {
    let socket = try await ListeningSocket(at: .tcp(host: host, port: 0))
    defer { socket.close() }
    for _ in 0 ..< 2 {
      try await Self.serve(on: socket) { address in
        #expect(address == socket.address)
        try await Self.expectAnswers(address)
      }
    }
  }

  @Test func `several servers take connections from one socket`() async throws {
    let socket = try await ListeningSocket(at: .tcp(host: "127.0.0.1", port: 0))
    defer { socket.close() }
    try await Self.serve(on: socket) { _ in
      try await Self.serve(on: socket) { address in try await Self.expectAnswers(address) }
      // One is gone, and the other has them all.
      for _ in 0 ..< 4 { try await Self.expectAnswers(socket.address) }
    }
  }

  @Test func `a connection waits while no server runs`() async throws {
    let socket = try await ListeningSocket(at: .tcp(host: "127.0.0.1", port: 0))
    defer { socket.close() }
    let (answered, answer) = AsyncStream.makeStream(of: Never.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        defer { answer.finish() }
        try await Self.expectAnswers(socket.address)
      }
      group.addTask { try await Self.serve(on: socket) { _ in for await _ in answered {} } }
      while try await group.next() != nil {}
    }
  }

  @Test func `a Unix socket's file outlives servers, and goes when it is asked to`() async throws {
    let folder = try SocketFolder()
    defer { folder.remove() }
    let socket = try await ListeningSocket(
      at: .unix(path: folder.file()), unixSocketPermissions: 0o640)
    defer { socket.close() }
    for _ in 0 ..< 2 {
      try await Self.serve(on: socket) { address in try await Self.expectAnswers(address) }
      let mode = try FileManager.default.attributesOfItem(atPath: folder.file())[.posixPermissions]
      #expect(mode as? Int == 0o640)
    }
    socket.removeFile()
    #expect(!FileManager.default.fileExists(atPath: folder.file()))
  }

  @Test func `an address that is taken, or is none, is refused`() async throws {
    let socket = try await ListeningSocket(at: .tcp(host: "127.0.0.1", port: 0))
    defer { socket.close() }
    let taken = await #expect(throws: ListeningError.self) {
      try await ListeningSocket(at: socket.address)
    }
    #expect(taken?.code == .inUse)
    let none = await #expect(throws: ListeningError.self) {
      try await ListeningSocket(at: .tcp(host: "nowhere.invalid", port: 1))
    }
    #expect(none?.description.contains("no IP address") == true)
  }

  @Test func `sockets that are not one for each address are refused`() async throws {
    var configuration = ServerConfiguration()
    configuration.addresses = [.tcp(host: "127.0.0.1", port: 0), .tcp(host: "::1", port: 0)]
    configuration.listeningDescriptors = [100]
    let server = SidelightServer(configuration: configuration)
    let error = await #expect(throws: ConfigurationError.self) { try await server.run() }
    #expect(error?.setting == "listeningDescriptors")
  }
}
