import GRPCCore
import Logging
import ServiceLifecycleTestKit
import SidelightKernelLanguage
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing
import Tracing

/// Tests of a shutdown's effect on open sessions.
@Suite(.timeLimit(.minutes(5))) struct DrainTests {
  @Test
  func `a shutdown notifies sessions, finishes frames in flight, counts them, and ends the server`()
    async throws
  {
    try await testGracefulShutdown { trigger in
      let answers = try await withServer { _, address in
        try await withStub(address) { stub in
          let answers = Answers()
          let error = await #expect(throws: RPCError.self) {
            try await stub.process(options: largeMessages) { writer in
              try await writer.write(.open([.filter("sepiaTone")]))
              try await writer.write(.frame(1, .noise(.bgra8, 64, 64)))
              // The client's side stays open: the server must end the call on its own.
              for await _ in answers.ended {}
            } onResponse: { response in
              defer { answers.end() }
              for try await message in response.messages {
                answers.add(message)
                if case .frame? = message.kind { trigger.triggerGracefulShutdown() }
              }
            }
          }
          #expect(error?.code == .unavailable, "\(String(describing: error))")
          return answers.messages
        }
      }
      #expect(answers.frames.count == 1)
      #expect(
        answers.contains {
          if case .state(let state)? = $0.kind { state.state == .draining } else { false }
        })
      #expect(answers.finalStats?.outcomes == 1)
    }
  }

  @Test
  func `a session whose client does not read is closed after the drain timeout`() async throws {
    let clock = ManualClock()
    var configuration = ServerConfiguration()
    configuration.addresses = [.tcp(host: "127.0.0.1", port: 0)]
    // The drain is to end the connection, and no guard before it.
    configuration.guards.extendTimeouts()
    let server = SidelightServer(
      configuration: configuration, catalogue: .builtIn, tracer: NoOpTracer(),
      clock: clock.sessionClock, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    let (reads, read) = AsyncStream<Never>.makeStream()
    try await testGracefulShutdown { trigger in
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await server.run() }
        let address = try await server.listeningAddresses[0]
        group.addTask {
          let image = Sidelight_V1_Image.noise(.bgra8, 512, 512)
          var transport = TransportConfiguration()
          transport.streamWindowBytes = 65535
          try await withStub(address, transport: transport) { stub in
            let error = await #expect(throws: RPCError.self) {
              try await stub.process(options: largeMessages) { writer in
                try await writer.write(.open([.filter("sepiaTone")]))
                // More than all buffers hold: NIO keeps ten messages for a client that does not
                // read. A write fails once the call has ended.
                for sequence: UInt64 in 1 ... 24 {
                  try? await writer.write(.frame(sequence, image))
                }
                for await _ in reads {}
              } onResponse: { response in
                for await _ in reads {}
                for try await _ in response.messages {}
              }
            }
            #expect(error?.code == .unavailable, "\(String(describing: error))")
          }
        }
        try await withStub(address) { stub in
          try await expectEventually("frames are filtered, and not read") {
            try await stub.getServerInfo(.init()).load.frames.inFlight >= 4
          }
        }
        trigger.triggerGracefulShutdown()
        // Five seconds for the session, one more for the connection.
        await clock.awaited(within: .seconds(5))
        clock.advance(by: .seconds(5))
        try await expectEventually("the session is cut off") { server.sessionCount == 0 }
        async let _ = clock.tick(by: .seconds(6))
        // The server ends although the client has not started reading.
        try await group.next()
        read.finish()
        while try await group.next() != nil {}
      }
    }
  }

  @Test func `a call without a session does not delay a shutdown`() async throws {
    try await testGracefulShutdown { trigger in
      try await withServer { server, address in
        try await withStub(address) { stub in
          let (ends, end) = AsyncStream<Never>.makeStream()
          await #expect(throws: RPCError.self) {
            try await stub.process { writer in
              trigger.triggerGracefulShutdown()
              for await _ in ends {}
            } onResponse: { response in
              defer { end.finish() }
              for try await _ in response.messages {}
            }
          }
          #expect(server.sessionCount == 0)
        }
      }
    }
  }
}
