import Foundation
import GRPCCore
import SidelightServer
import SidelightTestSupport
import SidelightWire
import Testing

/// Tests of the identity of callers. The distinction between users is tested from Python, which can
/// run as another user.
@Suite(.timeLimit(.minutes(5))) struct CallerTests {
  /// Opens a session, and returns as whose operators see it.
  static func peer(_ address: Address, metadata: Metadata = [:]) async throws -> String {
    try await withStub(address) { stub in
      try await stub.whileOpen(metadata: metadata) { opened in
        try await withOperators(address) { operators in
          try await operators.listSessions(.init()).sessions
            .first { $0.sessionID == opened.sessionID }?.peer ?? "unknown"
        }
      }
    }
  }

  @Test
  func `the list of sessions names user, group and process of a Unix socket's peer`() async throws {
    let folder = try SocketFolder()
    defer { folder.remove() }
    try await withServer(listeningOn: [.unix(path: folder.file())]) { _, address in
      let own = "unix:\(folder.file()) uid=\(geteuid()) gid=\(getegid()) pid=\(getpid())"
      let peer = try await Self.peer(address)
      #expect(peer == own)
    }
  }

  @Test(arguments: ["1", "2", "x", ""])
  func `a client cannot forge the identity of another connection`(mark: String) async throws {
    try await withServer { _, address in
      let peer = try await Self.peer(address, metadata: ["sidelight-connection": "\(mark)"])
      #expect(peer.hasPrefix("ipv4:127.0.0.1:"))
      #expect(!peer.contains("uid"))
    }
  }

  @Test
  func `sessions over Unix sockets count by user, across connections and sockets`() async throws {
    let folder = try SocketFolder()
    defer { folder.remove() }
    var configuration = ServerConfiguration()
    configuration.quotas.sessions = 1
    let addresses = ["a", "b"].map { Address.unix(path: folder.file($0)) }
    try await withServer(configuration, listeningOn: addresses) { _, first in
      try await withStub(first) { stub in
        try await stub.whileOpen { _ in
          let error = await #expect(throws: RPCError.self) {
            try await withStub(addresses[1]) { _ = try await $0.converse([.open()]) }
          }
          #expect(error?.code == .resourceExhausted)
          #expect(error?.message.contains("unix:uid=\(geteuid())") == true)
        }
      }
    }
  }
}
