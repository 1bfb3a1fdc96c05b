import GRPCCore
import ServiceLifecycleTestKit
import SidelightServer
import SidelightWire
import Testing

/// What a shutdown means for those who are there.
@Suite(.timeLimit(.minutes(1))) struct DrainTests {
  @Test("A shutdown tells sessions, lets frames in flight finish, counts them, and ends the server")
  func drain() async throws {
    try await testGracefulShutdown { trigger in
      let answers = try await withServer { _, address in
        try await withStub(address) { stub in
          let answers = Answers()
          let error = await #expect(throws: RPCError.self) {
            try await stub.process(options: largeMessages) { writer in
              try await writer.write(.open([.filter("sepiaTone")]))
              try await writer.write(.frame(1, .noise(.bgra8, 64, 64)))
              // The client's side stays open: the server must end the call by itself.
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

  @Test("A call that has opened no session does not hold up a shutdown")
  func unopened() async throws {
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
