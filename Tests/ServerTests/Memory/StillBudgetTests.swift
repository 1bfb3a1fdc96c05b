import GRPCCore
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// The memory of still images that wait for a turn is limited, and released when their calls end.
@Suite(.timeLimit(.minutes(5))) struct StillBudgetTests {
  static let image = Sidelight_V1_Image.noise(.gray8, 400, 400)

  static func apply(_ stub: Stub, timeout: Duration) async -> RPCError.Code? {
    var options = CallOptions.defaults
    options.timeout = timeout
    do {
      _ = try await stub.apply(
        .with {
          $0.image = Self.image
          $0.pipeline = Sidelight_V1_Pipeline([.filter("gate")] as Pipeline)
        }, options: options)
      return nil
    } catch {
      return (error as? RPCError)?.code
    }
  }

  @Test
  func `an image beyond the budget is refused; a finished call releases its bytes`() async throws {
    let gate = Gate()
    var configuration = ServerConfiguration()
    configuration.computeThreads = 1
    // Two images.
    configuration.guards.maxUnfinishedBytesPerAddress = 330_000
    // The first call keeps its turn.
    let clock = ManualClock()
    try await withServer(configuration, catalogue: gate.catalogue, clock: clock.sessionClock) {
      _, address in
      try await withStub(address) { stub in
        try await withThrowingTaskGroup(of: RPCError.Code?.self) { group in
          // The only thread is occupied.
          group.addTask { await Self.apply(stub, timeout: .seconds(600)) }
          for await _ in gate.entered { break }
          // The deadline of the second passes while it waits for its turn.
          #expect(await Self.apply(stub, timeout: .milliseconds(200)) == .deadlineExceeded)
          try await expectEventually("the image of a finished call is released") {
            await Self.apply(stub, timeout: .milliseconds(50)) == .deadlineExceeded
          }
          group.addTask {
            while true {
              let code = await Self.apply(stub, timeout: .seconds(600))
              // The server may release an image above a little later.
              if code != .resourceExhausted { return code }
            }
          }
          try await expectEventually("a third is refused") {
            await Self.apply(stub, timeout: .milliseconds(50)) == .resourceExhausted
          }
          gate.open(for: 100)
          for try await code in group { #expect(code == nil) }
        }
      }
    }
  }
}
