import Dispatch
import Foundation

/// SIGINT or SIGTERM.
struct Interruption: Error {
  /// Cancels `body` at SIGINT or SIGTERM, which ends the servers that it started.
  ///
  /// - Throws: ``Interruption``, or the error of `body`.
  static func handled<Result: Sendable>(
    _ body: @Sendable @escaping () async throws -> Result
  ) async throws -> Result {
    let (signals, continuation) = AsyncStream.makeStream(of: Int32.self)
    let sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { continuation.yield(number) }
      source.activate()
      return source
    }
    defer { for source in sources { source.cancel() } }
    return try await withThrowingTaskGroup(of: Result.self) { group in
      group.addTask { try await body() }
      group.addTask {
        for await _ in signals { break }
        throw Interruption()
      }
      defer { group.cancelAll() }
      guard let result = try await group.next() else { throw Interruption() }
      return result
    }
  }
}
