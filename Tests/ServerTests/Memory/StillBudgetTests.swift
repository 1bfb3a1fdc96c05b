import GRPCCore
import SidelightKernels
import SidelightServer
import SidelightWire
import SwiftProtobuf
import Testing

/// Still images that wait for their turn: their memory is bounded, and those of calls that are over are
/// given up.
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

  @Test("An image beyond the budget is refused; a finished call releases its bytes")
  func budget() async throws {
    let gate = Gate()
    var configuration = ServerConfiguration()
    configuration.computeThreads = 1
    // Two of them.
    configuration.guards.maxUnfinishedBytesPerAddress = 330_000
    // Its turn is not to be taken from it.
    let clock = ManualClock()
    try await withServer(configuration, catalogue: gate.catalogue, clock: clock.sessionClock) {
      _, address in
      try await withStub(address) { stub in
        try await withThrowingTaskGroup(of: RPCError.Code?.self) { group in
          // The only thread is taken.
          group.addTask { await Self.apply(stub, timeout: .seconds(600)) }
          for await _ in gate.entered { break }
          // The second waits for its turn, and its time is over before that comes.
          #expect(await Self.apply(stub, timeout: .milliseconds(200)) == .deadlineExceeded)
          try await expectEventually("the image of a call that is over is given up") {
            await Self.apply(stub, timeout: .milliseconds(50)) == .deadlineExceeded
          }
          group.addTask {
            while true {
              let code = await Self.apply(stub, timeout: .seconds(600))
              // One of those above may be given up a moment later.
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
