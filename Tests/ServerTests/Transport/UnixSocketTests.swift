import Foundation
import GRPCCore
import SidelightServer
import SidelightTestSupport
import SidelightWire
import Testing

/// The file by which clients find a Unix socket.
@Suite(.timeLimit(.minutes(5))) struct UnixSocketTests {
  /// Serves on the path until the test is over, and asks the server who it is.
  static func expectServes(_ path: String) async throws {
    try await withServer(listeningOn: [.unix(path: path)]) { _, address in
      try await Self.expectAnswers(address)
    }
  }

  static func expectAnswers(_ address: Address) async throws {
    let version = try await withStub(address) { try await $0.getServerInfo(.init()).version }
    #expect(version == SidelightVersion.current)
  }

  /// Runs a server that is not to get anywhere, and returns why.
  static func refusal(at path: String) async throws -> ListeningError? {
    var configuration = ServerConfiguration()
    configuration.addresses = [.unix(path: path)]
    let server = SidelightServer(configuration: configuration)
    return await #expect(throws: ListeningError.self) { try await server.run() }
  }

  @Test func `a socket file of a dead server is replaced`() async throws {
    let folder = try SocketFolder()
    defer { folder.remove() }
    try folder.leaveStaleSocket()
    try await Self.expectServes(folder.file())
  }

  @Test
  func `the socket of a running server is not replaced, and the server is not disturbed`()
    async throws
  {
    let folder = try SocketFolder()
    defer { folder.remove() }
    try await withServer(listeningOn: [.unix(path: folder.file())]) { _, address in
      let error = try await Self.refusal(at: folder.file())
      #expect(error?.code == .inUse)
      #expect(error?.description.contains("another server listens there") == true)
      try await Self.expectAnswers(address)
    }
  }

  @Test func `of several servers that start at a stale socket at once, one listens`() async throws {
    let folder = try SocketFolder()
    defer { folder.remove() }
    try folder.leaveStaleSocket()
    try await withThrowingTaskGroup(of: ListeningError.Code?.self) { group in
      for _ in 0 ..< 8 {
        group.addTask {
          var configuration = ServerConfiguration()
          configuration.addresses = [.unix(path: folder.file())]
          configuration.computeThreads = 1
          let server = SidelightServer(configuration: configuration)
          do {
            try await server.run()
            return nil
          } catch let error as ListeningError {
            return error.code
          }
        }
      }
      for _ in 0 ..< 7 {
        let code = try await group.next()
        #expect(code == .some(.some(.inUse)))
      }
      try await Self.expectAnswers(.unix(path: folder.file()))
      group.cancelAll()
    }
  }

  @Test(
    arguments: ["a file", "a folder", "a link to a stale socket", "a datagram socket"])
  func `a file that is not a stream socket is not replaced`(kind: String) async throws {
    let folder = try SocketFolder()
    defer { folder.remove() }
    switch kind {
    case "a file": try Data("precious".utf8).write(to: URL(filePath: folder.file()))
    case "a folder":
      try FileManager.default.createDirectory(
        atPath: folder.file(), withIntermediateDirectories: false)
    case "a datagram socket":
      let descriptor = try folder.bindSocket(kind: SocketFolder.datagramSocket)
      defer { close(descriptor) }
      let error = try await Self.refusal(at: folder.file())
      #expect(error?.code == .notASocket)
      return
    default:
      try folder.leaveStaleSocket("stale")
      try FileManager.default.createSymbolicLink(
        atPath: folder.file(), withDestinationPath: folder.file("stale"))
    }
    let before = try FileManager.default.attributesOfItem(atPath: folder.file())
    let error = try await Self.refusal(at: folder.file())
    #expect(error?.code == .notASocket)
    let after = try FileManager.default.attributesOfItem(atPath: folder.file())
    #expect(before[.systemFileNumber] as? Int == after[.systemFileNumber] as? Int)
  }

  @Test func `a path that is too long or in no folder is refused with the reason`() async throws {
    let folder = try SocketFolder()
    defer { folder.remove() }
    let long = folder.file(String(repeating: "x", count: 120))
    let tooLong = try await Self.refusal(at: long)
    #expect(tooLong?.code == .pathTooLong)
    #expect(tooLong?.message.contains("\(long.utf8.count) bytes") == true)
    let empty = try await Self.refusal(at: "")
    #expect(empty?.code == .pathTooLong)
    let nowhere = try await Self.refusal(at: folder.file("nowhere/socket"))
    #expect(nowhere?.code == .notFound)
  }

  @Test func `a TCP port in use is refused with the same message`() async throws {
    try await withServer { _, address in
      var configuration = ServerConfiguration()
      configuration.addresses = [address]
      let server = SidelightServer(configuration: configuration)
      let error = await #expect(throws: ListeningError.self) { try await server.run() }
      #expect(error?.code == .inUse)
      #expect(error?.address == address)
      await #expect(throws: ListeningError.self) { try await server.listeningAddresses }
    }
  }

  @Test(arguments: [0o600, 0o660, 0o666])
  func `the socket file has the configured permissions`(mode: Int) async throws {
    let folder = try SocketFolder()
    defer { folder.remove() }
    var configuration = ServerConfiguration()
    if mode != 0o600 { configuration.unixSocketPermissions = UInt16(mode) }
    try await withServer(configuration, listeningOn: [.unix(path: folder.file())]) { _, _ in
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.file())
      #expect(attributes[.posixPermissions] as? Int == mode)
    }
  }

  @Test
  func `the socket file is removed with its server, unless another replaced it`() async throws {
    let folder = try SocketFolder()
    defer { folder.remove() }
    try await Self.expectServes(folder.file())
    #expect(!FileManager.default.fileExists(atPath: folder.file()))

    try await withServer(listeningOn: [.unix(path: folder.file())]) { _, _ in
      try FileManager.default.removeItem(atPath: folder.file())
      try Data("another's".utf8).write(to: URL(filePath: folder.file()))
    }
    #expect(try Data(contentsOf: URL(filePath: folder.file())) == Data("another's".utf8))
  }
}
