import NIOCore
package import NIOPosix

/// Runs `body` with the event loops that a configuration asks for. Loops of its own end when `body`
/// returns; those that the process shares stay.
package func withEventLoops<Result>(
  _ count: Int?, _ body: (MultiThreadedEventLoopGroup) async throws -> Result
) async throws -> Result {
  guard let count else { return try await body(.singleton) }
  let group = MultiThreadedEventLoopGroup(numberOfThreads: count)
  let result: Swift.Result<Result, any Error>
  do {
    result = .success(try await body(group))
  } catch {
    result = .failure(error)
  }
  try? await group.shutdownGracefully()
  return try result.get()
}
