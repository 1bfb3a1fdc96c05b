import Foundation
import NIOCore
import NIOPosix

/// The event loops that carry the connections of a server or a client.
package struct EventLoops: Sendable {
  let group: MultiThreadedEventLoopGroup

  /// Runs `body` with the event loops of a configuration. Loops that are made for it end when
  /// `body` returns; the process's shared ones continue.
  ///
  /// - Parameter count: The number of loops; `nil` shares the process's loops, one a processor.
  package static func with<Result>(
    _ count: Int?, _ body: (EventLoops) async throws -> Result
  ) async throws -> Result {
    guard let count else { return try await body(EventLoops(group: .singleton)) }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: count)
    let result: Swift.Result<Result, any Error>
    do {
      result = .success(try await body(EventLoops(group: group)))
    } catch {
      result = .failure(error)
    }
    try? await group.shutdownGracefully()
    return try result.get()
  }

  package static var sharedCount: Int { NIOSingletons.groupLoopCountSuggestion }

  /// Sets the number of loops that the process shares, unless NIO's environment variable does. Call
  /// it once, before anything uses the loops.
  package static func setSharedCount(_ count: Int) {
    let variable = "NIO_SINGLETON_GROUP_LOOP_COUNT"
    guard ProcessInfo.processInfo.environment[variable] == nil else { return }
    NIOSingletons.groupLoopCountSuggestion = count
  }

  package func next() -> ConnectionLoop { ConnectionLoop(loop: self.group.next()) }
}

/// An event loop that carries connections.
package struct ConnectionLoop: Sendable {
  let loop: any EventLoop

  /// Runs the jobs of tasks that prefer it on the loop.
  package var executor: EventLoopExecutor { EventLoopExecutor(self.loop) }
}

/// Runs the jobs of tasks that prefer it on an event loop, between the loop's own work. For calls
/// that are served on the loop of their connection.
package final class EventLoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  /// - Parameter loop: The loop. It must outlive the tasks that prefer it: a loop that is shut down
  ///   doesn't accept jobs.
  init(_ loop: any EventLoop) {
    self.loop = loop
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    self.loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
