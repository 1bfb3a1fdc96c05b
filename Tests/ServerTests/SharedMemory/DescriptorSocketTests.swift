import Foundation
import GRPCCore
import SidelightServer
import SidelightTestSupport
import SidelightTransport
import SidelightWire
import SwiftProtobuf
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// The transfer of a session's ring, and its refusals.
@Suite(.timeLimit(.minutes(5)), .enabled(if: SharedMemoryConfiguration.isSupported))
struct DescriptorSocketTests {
  @Test func `a session's ring can be fetched once`() async throws {
    try await withServer(.withSharedMemory()) { server, address in
      try await withStub(address) { stub in
        try await stub.withOpened { opened in
          let offer = opened.sharedMemory
          #expect(!opened.hasSharedMemoryRefusal)
          let layout = try RingLayout(offer)
          #expect(server.ringBytes == layout.byteCount)
          let hello = offer.hello(of: opened.sessionID)
          let first = try DescriptorSocket.fetch(hello, at: offer.socketPath)
          #expect(first.answer == .ring)
          _ = try SharedMemoryRing(mapping: try #require(first.memory), layout)

          let again = try DescriptorSocket.fetch(hello, at: offer.socketPath)
          #expect(again.answer == .refused)
          #expect(again.memory == nil)
        }
        try await expectEventually("the ring goes with its session") { server.ringBytes == 0 }
      }
    }
  }

  @Test func `a token is valid for its own session only`() async throws {
    try await withServer(.withSharedMemory()) { _, address in
      try await withStub(address) { stub in
        try await stub.withOpened { one in
          try await stub.withOpened { other in
            #expect(one.sharedMemory.token != other.sharedMemory.token)
            let hello = one.sharedMemory.hello(of: other.sessionID)
            let answer = try DescriptorSocket.fetch(hello, at: one.sharedMemory.socketPath)
            #expect(answer.answer == .refused)
            #expect(answer.memory == nil)
          }
        }
      }
    }
  }

  @Test func `a token expires ten seconds after the session was opened`() async throws {
    let clock = ManualClock()
    try await withServer(.withSharedMemory(), clock: clock.sessionClock) { _, address in
      try await withStub(address) { stub in
        for (elapsed, answer) in [(9, DescriptorAnswer.ring), (10, .refused)] {
          try await stub.withOpened { opened in
            clock.advance(by: .seconds(elapsed))
            let offer = opened.sharedMemory
            let result = try DescriptorSocket.fetch(
              offer.hello(of: opened.sessionID), at: offer.socketPath)
            #expect(result.answer == answer)
          }
        }
      }
    }
  }

  @Test func `the token of a session that has ended is invalid`() async throws {
    try await withServer(.withSharedMemory()) { _, address in
      try await withStub(address) { stub in
        let opened = try await stub.withOpened { $0 }
        let answer = try DescriptorSocket.fetch(
          opened.sharedMemory.hello(of: opened.sessionID), at: opened.sharedMemory.socketPath)
        #expect(answer.answer == .refused)
      }
    }
  }

  @Test(
    arguments: [
      Array("GET / HTTP/1.1\r\n\r\n".utf8), [0], Array(repeating: 1, count: 4096),
      DescriptorHello(token: Array(repeating: 0, count: 32), sessionID: "nobody").bytes,
    ])
  func `a request that is not a hello is refused`(_ bytes: [UInt8]) async throws {
    try await withServer(.withSharedMemory()) { _, address in
      try await withStub(address) { stub in
        try await stub.withOpened { opened in
          let connection = try Connection(to: opened.sharedMemory.socketPath)
          connection.send(bytes)
          // If bytes were left unread, the system may report a reset connection.
          #expect([[DescriptorAnswer.refused.rawValue], []].contains(connection.readToEnd()))
          // Other clients are not affected.
          let answer = try DescriptorSocket.fetch(
            opened.sharedMemory.hello(of: opened.sessionID), at: opened.sharedMemory.socketPath)
          #expect(answer.answer == .ring)
        }
      }
    }
  }

  @Test
  func `a connection with no request or an incomplete one is closed after the timeout`()
    async throws
  {
    let configuration = ServerConfiguration.withSharedMemory {
      $0.descriptorSocketTimeout = .milliseconds(20)
    }
    try await withServer(configuration) { _, address in
      try await withStub(address) { stub in
        try await stub.withOpened { opened in
          let path = opened.sharedMemory.socketPath
          let silent = try Connection(to: path)
          let slow = try Connection(to: path)
          slow.send(Array(opened.sharedMemory.hello(of: opened.sessionID).bytes.dropLast()))
          #expect(silent.readToEnd() == [])
          #expect(slow.readToEnd() == [])
        }
      }
    }
  }

  @Test
  func `connections without a request are limited, and further ones are refused`() async throws {
    let configuration = ServerConfiguration.withSharedMemory {
      $0.maxPendingConnections = 2
      $0.descriptorSocketTimeout = .seconds(50)
    }
    try await withServer(configuration) { _, address in
      try await withStub(address) { stub in
        try await stub.withOpened { opened in
          let path = opened.sharedMemory.socketPath
          let silent = try (0 ..< 2).map { _ in try Connection(to: path) }
          let beyond = try Connection(to: path)
          #expect(beyond.readToEnd() == [DescriptorAnswer.busy.rawValue])
          silent[0].send(opened.sharedMemory.hello(of: opened.sessionID).bytes)
          #expect(silent[0].readToEnd() == [DescriptorAnswer.ring.rawValue])
        }
      }
    }
  }

  @Test()
  func `the descriptor socket is private to its owner, and is removed with the server`()
    async throws
  {
    let path = try await withServer(.withSharedMemory()) { _, address in
      try await withStub(address) { stub in
        try await stub.withOpened { opened in
          let path = opened.sharedMemory.socketPath
          let files = FileManager.default
          let folder = (path as NSString).deletingLastPathComponent
          let mode = try files.attributesOfItem(atPath: folder)[.posixPermissions] as? Int
          #expect(mode == 0o700)
          let socketMode = try files.attributesOfItem(atPath: path)[.posixPermissions] as? Int
          #expect(socketMode == 0o600)
          return path
        }
      }
    }
    try await expectEventually("socket and folder are removed") {
      let folder = (path as NSString).deletingLastPathComponent
      return !FileManager.default.fileExists(atPath: folder)
    }
  }

  @Test
  func
    `with other users allowed, every user can connect, and users without permission are refused`()
    async throws
  {
    let configuration = ServerConfiguration.withSharedMemory { $0.allowedUserIDs = [12345] }
    try await withServer(configuration) { _, address in
      try await withStub(address) { stub in
        try await stub.withOpened { opened in
          let attributes = try FileManager.default.attributesOfItem(
            atPath: opened.sharedMemory.socketPath)
          #expect(attributes[.posixPermissions] as? Int == 0o666)
        }
      }
    }
  }

  @Test
  func `a ring beyond a limit is refused with the reason, and the session continues`() async throws
  {
    let configuration = ServerConfiguration.withSharedMemory {
      $0.maxSessionBytes = 12 << 16
      $0.maxBytes = 20 << 16
    }
    let tooLarge = Sidelight_V1_SharedMemoryRequest.with {
      $0.slotBytes = 1 << 16
      $0.inputSlots = 7
    }
    try await withServer(configuration) { server, address in
      try await withStub(address) { stub in
        try await stub.withOpened(tooLarge) { opened in
          #expect(!opened.hasSharedMemory)
          #expect(opened.sharedMemoryRefusal.code == 8)  // RESOURCE_EXHAUSTED
          #expect(opened.sharedMemoryRefusal.message.contains("\(12 << 16)"))
          #expect(server.ringBytes == 0)
        }
        try await stub.withOpened { first in
          #expect(first.hasSharedMemory)
          try await stub.withOpened { second in
            #expect(!second.hasSharedMemory)
            #expect(second.sharedMemoryRefusal.code == 8)
            #expect(second.sharedMemoryRefusal.message.contains("\(8 << 16) are left"))
            #expect(server.ringBytes == 12 << 16)
          }
        }
        try await expectEventually("the ring goes with its session") { server.ringBytes == 0 }
        try await stub.withOpened { third in #expect(third.hasSharedMemory) }
      }
    }
  }

  @Test func `a ring with invalid dimensions makes the open request invalid`() async throws {
    try await withServer(.withSharedMemory()) { _, address in
      try await withStub(address) { stub in
        let error = try await #require(throws: RPCError.self) {
          try await stub.withOpened(.with { $0.inputSlots = 65 }) { _ in }
        }
        #expect(error.code == .invalidArgument)
        #expect(error.message.contains("open.shared_memory.input_slots"))
      }
    }
  }

  @Test
  func `a server without shared memory refuses the ring, and the session continues`() async throws {
    try await withServer { _, address in
      try await withStub(address) { stub in
        let answers = try await stub.converse([
          .open { $0.sharedMemory = .init() }, .frame(1, .noise(.gray8, 4, 4)),
        ])
        guard case .opened(let opened)? = answers.first?.kind else {
          Issue.record("not opened")
          return
        }
        #expect(opened.sharedMemoryRefusal.code == 12)  // UNIMPLEMENTED
        #expect(!opened.hasSharedMemory)
        #expect(answers.finalStats?.passedThrough == 1)
      }
    }
  }

  @Test(
    arguments: [
      ("unix:/run/sidelight.sock", true), ("ipv4:127.0.0.1:5", true), ("ipv4:127.9.9.9:5", true),
      ("ipv6:[::1]:5", true), ("ipv4:192.0.2.1:5", false), ("ipv6:[2001:db8::1]:5", false),
      ("ipv4:12.7.0.1:5", false), ("", false),
    ])
  func `a client on another host gets no ring`(_ peer: String, _ isLocal: Bool) {
    #expect(Caller(peer: peer).isLocal == isLocal)
  }
}

/// A connection to the descriptor socket that misbehaves.
private struct Connection: Sendable {
  private let descriptor: OwnedDescriptor

  init(to path: String) throws(SharedMemoryError) {
    self.descriptor = try DescriptorSocket.connect(to: path)
  }

  func send(_ bytes: [UInt8]) {
    _ = Glibc.send(self.descriptor.number, bytes, bytes.count, CInt(MSG_NOSIGNAL))
  }

  /// Everything that comes until the server closes, or the connection is reset.
  func readToEnd() -> [UInt8] {
    var result: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64)
    while true {
      let count = recv(self.descriptor.number, &buffer, buffer.count, 0)
      guard count > 0 else { return result }
      result += buffer.prefix(count)
    }
  }
}
