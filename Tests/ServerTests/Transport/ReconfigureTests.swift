import Foundation
import GRPCCore
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Tests of limits that change while sessions are open.
@Suite(.timeLimit(.minutes(5))) struct ReconfigureTests {
  static let image = Sidelight_V1_Image.noise(.bgra8, 16, 12)

  static func configuration(
    _ change: (inout ServerConfiguration) -> Void = { _ in }
  ) -> ServerConfiguration {
    var configuration = ServerConfiguration()
    configuration.resumeKeys = [ResumeTests.key("a", 1)]
    change(&configuration)
    return configuration
  }

  /// The status with which `body` fails, if it does.
  static func code(_ body: () async throws -> Void) async -> RPCError.Code? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? RPCError)?.code ?? .unknown
    }
  }

  @Test func `a session loses no frame while everything changes that can`() async throws {
    try await withServer(Self.configuration()) { server, address in
      try await withStub(address) { stub in
        let count = 200
        let answers = try await stub.converseInTurn(
          .open([.filter("colorInvert")]),
          (1 ... count).map { .frame(UInt64($0), Self.image) },
          before: { index in
            server.reconfigure(
              Self.configuration {
                $0.maxSessions = 1 + index % 2
                $0.quotas.sessions = 1
                $0.maxLoad = index % 2 == 0 ? nil : 0.01
                $0.framesInFlight = 1 + index % 8
                $0.maxConsecutiveErrors = 1 + index
                $0.resumeKeys = [ResumeTests.key("\(index)", 1), ResumeTests.key("a", 1)]
                $0.guards.maxConnections = 1
                $0.guards.maxConnectionsPerAddress = 1
                $0.guards.pingBurst = 1 + index
                $0.guards.maxUnfinishedBytes = 1 << 20 + index
              })
          })
        #expect(answers.frames.map(\.sequence) == (1 ... UInt64(count)).map(\.self))
        #expect(answers.finalStats?.filtered == UInt64(count))
        #expect(answers.drops.isEmpty && answers.errors.isEmpty)
      }
    }
  }

  @Test func `new sessions are admitted by the current limit`() async throws {
    try await withServer(Self.configuration { $0.maxSessions = 1 }) { server, address in
      try await withStub(address) { stub in
        try await stub.whileOpen { opened in
          #expect(opened.limits.maxSessions == 1)
          let refused = await Self.code { _ = try await stub.converse([.open()]) }
          #expect(refused == .resourceExhausted)
          server.reconfigure(Self.configuration { $0.maxSessions = 2 })
          let limits = try await stub.getServerInfo(.init()).limits
          #expect(limits.maxSessions == 2)
          _ = try await stub.converse([.open(), .frame(1, Self.image)])
          server.reconfigure(
            Self.configuration {
              $0.maxSessions = 2
              $0.quotas.sessions = 1
            })
          let again = await Self.code { _ = try await stub.converse([.open()]) }
          #expect(again == .resourceExhausted)
        }
      }
    }
  }

  @Test func `new sessions get the current grant, others keep theirs`() async throws {
    try await withServer(Self.configuration { $0.framesInFlight = 3 }) { server, address in
      try await withStub(address) { stub in
        try await stub.whileOpen { opened in
          #expect(opened.framesInFlight == 3)
          server.reconfigure(Self.configuration { $0.framesInFlight = 7 })
          try await stub.whileOpen { opened in #expect(opened.framesInFlight == 7) }
        }
      }
    }
  }

  @Test func `keys are replaced one after the other, and none is good when it is gone`()
    async throws
  {
    let old = ResumeTests.key("old", 1)
    let new = ResumeTests.key("new", 2)
    try await withServer(Self.configuration { $0.resumeKeys = [old] }) { server, address in
      try await withStub(address) { stub in
        let first = try await stub.converse([.open([.filter("colorInvert")])])
        let signedByOld = try #require(first.opened?.resumeToken)
        server.reconfigure(Self.configuration { $0.resumeKeys = [new, old] })
        let second = try await stub.converse([ResumeTests.open(resuming: signedByOld)])
        let signedByNew = try #require(second.opened?.resumeToken)
        server.reconfigure(Self.configuration { $0.resumeKeys = [new] })
        let refused = await Self.code {
          _ = try await stub.converse([ResumeTests.open(resuming: signedByOld)])
        }
        #expect(refused == .failedPrecondition)
        let third = try await stub.converse([
          ResumeTests.open(resuming: signedByNew), .frame(1, Self.image),
        ])
        #expect(third.finalStats?.filtered == 1)
      }
    }
  }

  @Test func `new calls on an open connection use the guards' current limits`()
    async throws
  {
    try await withServer(Self.configuration()) { server, address in
      try await withStub(address) { stub in
        let request = Sidelight_V1_CheckPipelineRequest.with {
          $0.text = "colorInvert" + String(repeating: " ", count: 2048)
        }
        _ = try await stub.checkPipeline(request)
        server.reconfigure(Self.configuration { $0.guards.maxControlMessageBytes = 1024 })
        let refused = await Self.code { _ = try await stub.checkPipeline(request) }
        #expect(refused == .resourceExhausted)
        server.reconfigure(Self.configuration())
        _ = try await stub.checkPipeline(request)
      }
    }
  }

  @Test func `new connections are admitted by the current limit`() async throws {
    try await withServer(Self.configuration()) { server, address in
      try await withStub(address) { stub in
        _ = try await stub.getServerInfo(.init())
        server.reconfigure(Self.configuration { $0.guards.maxConnections = 1 })
        let isRefused = try await withRawPeer(address) { other in
          other.send(RawPeer.preface)
          other.ping()
          return await other.next(where: \.isPingAnswer) == nil
        }
        #expect(isRefused && server.guardCounts[.connectionCap] == 1)
        // The connection that exists stays.
        _ = try await stub.getServerInfo(.init())
      }
    }
  }
}

extension [Sidelight_V1_ServerMessage] {
  fileprivate var opened: Sidelight_V1_Opened? {
    self.lazy.compactMap { if case .opened(let opened)? = $0.kind { opened } else { nil } }.first
  }
}
