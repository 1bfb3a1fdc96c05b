import Foundation
import GRPCCore
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import Testing

/// Tests of the messages that the wire carries, and of the messages that it refuses.
@Suite(.timeLimit(.minutes(5))) struct TransportTests {
  @Test
  func `1080p BGRA and 4K NV12 frames are sent and returned over TCP and a Unix socket`()
    async throws
  {
    let images: [Sidelight_V1_Image] = [
      .noise(.bgra8, 1920, 1080), .noise(.nv12, 3840, 2160, seed: 2),
    ]
    let path = FileManager.default.temporaryDirectory
      .appending(path: "sidelight-\(UUID().uuidString.prefix(8)).sock").path()
    let addresses: [Address] = [.tcp(host: "127.0.0.1", port: 0), .unix(path: path)]
    try await withServer(listeningOn: addresses) { server, _ in
      for address in try await server.listeningAddresses {
        let answers = try await withStub(address) { stub in
          try await stub.converse(
            [.open()] + images.enumerated().map { .frame(UInt64($0.offset + 1), $0.element) })
        }
        let isIdentical = answers.frames.map(\.image) == images
        #expect(isIdentical, "\(address)")
      }
    }
  }

  @Test
  func `a message over the limit ends the call with an error that names the limit`() async throws {
    var configuration = ServerConfiguration()
    configuration.transport.maxMessageBytes = 1 << 20
    try await withServer(configuration) { _, address in
      try await withStub(address) { stub in
        for messages: [Sidelight_V1_ClientMessage] in [
          [.open(), .frame(1, .noise(.bgra8, 1024, 1024))],
          [.frame(1, .noise(.bgra8, 1024, 1024))],
        ] {
          let error = await #expect(throws: RPCError.self) { try await stub.converse(messages) }
          #expect(error?.code == .resourceExhausted)
          #expect(error?.message.contains("1048576") == true, "\(error?.message ?? "")")
        }
        // The connection and other calls live on.
        let answers = try await stub.converse([.open(), .frame(1, .noise(.bgra8, 16, 16))])
        #expect(answers.frames.count == 1)
      }
    }
  }

  @Test
  func `the gauge of sessions returns to zero when a client disconnects during filtering`()
    async throws
  {
    try await withServer { server, address in
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          try? await withStub(address) { stub in
            _ = try await stub.process(options: largeMessages) { writer in
              try await writer.write(.open([.filter("gaussianBlur")]))
              for sequence: UInt64 in 1 ... 1_000_000 {
                try await writer.write(.frame(sequence, .noise(.bgra8, 320, 240)))
              }
            } onResponse: { response in
              for try await _ in response.messages {}
            }
          }
        }
        try await Self.poll(address) { $0.sessions == 1 }
        group.cancelAll()
        try await group.waitForAll()
      }
      try await Self.poll(address) { $0.sessions == 0 && $0.poolBytesInUse == 0 }
      #expect(server.sessionCount == 0)
    }
  }

  /// Asks the server about itself until the answer is as wished; 20,000 times at most.
  static func poll(
    _ address: Address, until isReached: (Sidelight_V1_Load) -> Bool
  ) async throws {
    try await withStub(address) { stub in
      var load = Sidelight_V1_Load()
      for _ in 0 ..< 20_000 {
        load = try await stub.getServerInfo(.init()).load
        if isReached(load) { return }
      }
      Issue.record("the server did not come to rest: \(load)")
    }
  }
}
