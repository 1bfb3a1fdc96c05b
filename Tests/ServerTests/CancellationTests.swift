import NIOCore
import NIOPosix
import SidelightServer
import SidelightWire
import Testing

/// A server whose task is cancelled, in place of being asked to end.
@Suite(.timeLimit(.minutes(5)), .serialized) struct CancellationTests {
  /// Connections that are made and closed again, over and over.
  private static let callers = 16

  @Test("A server that is cancelled while connections come in ends, and the process lives")
  func storm() async throws {
    for _ in 0 ..< 8 {
      try await withThrowingDiscardingTaskGroup { group in
        let (addresses, bound) = AsyncStream<Address>.makeStream()
        let (arrivals, arrived) = AsyncStream<Void>.makeStream()
        group.addTask {
          try await withServer { _, address in
            bound.yield(address)
            var arrival = arrivals.makeAsyncIterator()
            for _ in 0 ..< 2 * Self.callers { await arrival.next() }
          }
        }
        var address = addresses.makeAsyncIterator()
        guard case .tcp(let host, let port)? = await address.next() else { return }
        for _ in 0 ..< Self.callers {
          group.addTask {
            // Until nobody listens any more.
            while let channel = try? await ClientBootstrap(
              group: .singletonMultiThreadedEventLoopGroup
            ).connect(host: host, port: port).get() {
              arrived.yield()
              try? await channel.close()
            }
          }
        }
      }
    }
  }
}
