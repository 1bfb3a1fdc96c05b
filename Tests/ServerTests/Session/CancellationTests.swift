import Foundation
import Logging
import NIOCore
import NIOPosix
import SidelightServer
import SidelightTestSupport
import SidelightWire
import Testing

/// A server whose task is cancelled, instead of a graceful shutdown.
@Suite(.timeLimit(.minutes(5))) struct CancellationTests {
  @Test
  func `a server that is cancelled before it handles accepted connections ends without an error`()
    async
  {
    // A separate process: the test holds all threads of the pool, and the process may end.
    await #expect(processExitsWith: .success) {
      var configuration = ServerConfiguration()
      configuration.addresses = [.tcp(host: "127.0.0.1", port: 0)]
      let server = SidelightServer(
        configuration: configuration,
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      // Not a child task: a thread outside the pool cancels it while this task is suspended.
      let serving = Task.detached { try await server.run() }
      guard case .tcp(let host, let port) = try await server.listeningAddresses[0] else { exit(2) }
      await withCheckedContinuation { done in
        // A thread, because no task can run while the pool is held.
        Thread.detachNewThread {
          let pool = HeldPool()
          let connections = (0 ..< 8).map { _ in HeldPool.connect(host, port) }
          // Event loops have their own threads: all calls were accepted, but not handled yet.
          serving.cancel()
          pool.release()
          for connection in connections { try? connection.closeFuture.wait() }
          done.resume()
        }
      }
      _ = await serving.result
    }
  }
}

/// The blocked threads of the default executor.
private struct HeldPool: Sendable {
  private let permits = DispatchSemaphore(value: 0)
  /// More than the number of threads.
  private let count = 4 * ProcessInfo.processInfo.activeProcessorCount

  /// Returns when all are blocked.
  init() {
    let (permits, held) = (self.permits, DispatchSemaphore(value: 0))
    for _ in 0 ..< self.count {
      // Detached: every task blocks a thread of the pool until `release()`, and doesn't have a
      // parent that could wait for it.
      Task.detached {
        held.signal()
        Self.wait(for: permits)
      }
    }
    for _ in 0 ..< ProcessInfo.processInfo.activeProcessorCount { held.wait() }
  }

  /// Unblocks the threads.
  func release() {
    for _ in 0 ..< self.count { self.permits.signal() }
  }

  private static func wait(for permit: DispatchSemaphore) { permit.wait() }

  /// Connects, and waits for a server's first bytes.
  static func connect(_ host: String, _ port: Int) -> any Channel {
    let loop = MultiThreadedEventLoopGroup.singleton.any()
    let greeted = loop.makePromise(of: Void.self)
    do {
      let channel = try ClientBootstrap(group: loop)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(FirstRead(greeted))
          }
        }
        .connect(host: host, port: port).wait()
      try greeted.futureResult.wait()
      return channel
    } catch {
      fatalError("no server: \(error)")
    }
  }
}

/// Tells of the first bytes.
private final class FirstRead: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let promise: EventLoopPromise<Void>

  init(_ promise: EventLoopPromise<Void>) {
    self.promise = promise
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    self.promise.succeed()
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.promise.fail(ChannelError.eof)
  }
}
