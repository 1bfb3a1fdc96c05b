import GRPCCore
import ServiceLifecycle

extension ServerContext {
  /// Runs the body of a unary call, and cancels it when the client goes or the deadline passes. gRPC does
  /// not cancel the handler's task: without this it would go on, and keep its message in memory.
  ///
  /// - Throws: CANCELLED once the call is cancelled; what `body` throws.
  func cancellingWithCall<Result: Sendable>(
    _ body: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
      defer { group.cancelAll() }
      group.addTask { try await body() }
      group.addTask {
        try await self.cancellation.cancelled
        // A shutdown ends this wait too; what is under way may finish.
        guard Task.isShuttingDownGracefully else {
          throw RPCError(
            code: .cancelled, message: "The call was cancelled, or came to its deadline.")
        }
        return nil
      }
      while let result = try await group.next() {
        if let result { return result }
      }
      throw CancellationError()
    }
  }
}
