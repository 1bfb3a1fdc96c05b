import Foundation
import GRPCCore
import SidelightServer
import SidelightTestSupport
import SidelightTransport
import SidelightWire
import Testing

/// The file of the descriptor socket: existing files, and the file after the server has stopped.
@Suite(.timeLimit(.minutes(5)), .enabled(if: SharedMemoryConfiguration.isSupported))
struct DescriptorSocketFileTests {
  /// Runs a server that cannot bind the socket, and returns the error.
  private static func refusal(at path: String) async throws -> ListeningError? {
    var configuration = ServerConfiguration.withSharedMemory { $0.socketPath = path }
    configuration.addresses = [.tcp(host: "127.0.0.1", port: 0)]
    let server = SidelightServer(configuration: configuration)
    let error = await #expect(throws: RuntimeError.self) { try await server.run() }
    #expect(error?.message.contains("Shared memory cannot be offered") == true)
    return error?.cause as? ListeningError
  }

  /// Opens a session and fetches its ring.
  private static func expectHandsOut(_ address: Address, at path: String) async throws {
    try await withStub(address) { stub in
      try await stub.withOpened { opened in
        #expect(opened.sharedMemory.socketPath == path)
        let answer = try DescriptorSocket.fetch(
          opened.sharedMemory.hello(of: opened.sessionID), at: path)
        #expect(answer.answer == .ring)
      }
    }
  }

  @Test func `a socket file of a dead server is replaced`() async throws {
    let folder = try SocketFolder()
    defer { folder.remove() }
    try folder.leaveStaleSocket()
    let path = folder.file()
    try await withServer(.withSharedMemory { $0.socketPath = path }) { _, address in
      try await Self.expectHandsOut(address, at: path)
    }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test
  func `the socket of a running server is not replaced, and the server is not disturbed`()
    async throws
  {
    let folder = try SocketFolder()
    defer { folder.remove() }
    let path = folder.file()
    try await withServer(.withSharedMemory { $0.socketPath = path }) { _, address in
      #expect(try await Self.refusal(at: path)?.code == .inUse)
      try await Self.expectHandsOut(address, at: path)
    }
  }

  @Test func `a server that is too busy to accept counts as running`() async throws {
    let folder = try SocketFolder()
    defer { folder.remove() }
    let listener = OwnedDescriptor(try folder.bindSocket(kind: SocketFolder.streamSocket))
    #expect(listen(listener.number, 0) == 0)
    let waiting = try folder.fillBacklog()
    defer { withExtendedLifetime((listener, waiting)) {} }
    let before = try folder.fileNumber()
    #expect(try await Self.refusal(at: folder.file())?.code == .inUse)
    #expect(try folder.fileNumber() == before)
  }

  @Test func `a file that is not a socket is not replaced`() async throws {
    let folder = try SocketFolder()
    defer { folder.remove() }
    try Data("mine".utf8).write(to: URL(filePath: folder.file()))
    #expect(try await Self.refusal(at: folder.file())?.code == .notASocket)
    #expect(try Data(contentsOf: URL(filePath: folder.file())) == Data("mine".utf8))
  }

  @Test func `a file that replaced the socket remains when the server stops`() async throws {
    let folder = try SocketFolder()
    defer { folder.remove() }
    let path = folder.file()
    try await withServer(.withSharedMemory { $0.socketPath = path }) { _, address in
      try await Self.expectHandsOut(address, at: path)
      try FileManager.default.removeItem(atPath: path)
      try folder.leaveStaleSocket()
    }
    #expect(FileManager.default.fileExists(atPath: path))
  }

  @Test func `a path that is too long or in no folder is refused with the reason`() async throws {
    let folder = try SocketFolder()
    defer { folder.remove() }
    let long = folder.file(String(repeating: "x", count: 120))
    #expect(try await Self.refusal(at: long)?.code == .pathTooLong)
    #expect(try await Self.refusal(at: folder.file("nowhere/socket"))?.code == .notFound)
  }
}

extension SocketFolder {
  /// Which file is at the socket's path.
  fileprivate func fileNumber() throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: self.file())[.systemFileNumber] as? Int
  }

  /// Connects until the backlog of connections to accept is full.
  ///
  /// - Returns: The waiting connections.
  fileprivate func fillBacklog() throws -> [OwnedDescriptor] {
    var waiting: [OwnedDescriptor] = []
    while true {
      let peer = OwnedDescriptor(socket(AF_UNIX, Self.streamSocket, 0))
      _ = fcntl(peer.number, F_SETFL, fcntl(peer.number, F_GETFL) | O_NONBLOCK)
      let isConnected = withUnixAddress(self.file()) { connect(peer.number, $0, $1) } == 0
      guard isConnected else {
        #expect(errno == EAGAIN)
        return waiting
      }
      waiting.append(peer)
    }
  }
}
