import GRPCCore

/// Gives each call its bearer token.
struct TokenInterceptor: ClientInterceptor {
  let token: @Sendable () async throws -> String

  func intercept<Input: Sendable, Output: Sendable>(
    request: StreamingClientRequest<Input>, context: ClientContext,
    next:
      @concurrent (
        StreamingClientRequest<Input>, ClientContext
      ) async throws -> StreamingClientResponse<Output>
  ) async throws -> StreamingClientResponse<Output> {
    let token: String
    do {
      token = try await self.token()
    } catch let error as CancellationError {
      throw error
    } catch {
      throw RPCError(
        code: .unauthenticated, message: "There is no token for the call: \(error)", cause: error)
    }
    var request = request
    request.metadata.replaceOrAddString("Bearer \(token)", forKey: "authorization")
    return try await next(request, context)
  }
}
