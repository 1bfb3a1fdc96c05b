/// Stands around each pass of a frame: to measure it, to trace it, or to stop before it.
public protocol PassObserver: Sendable {
  /// Called once a pass, in order. Call `body` exactly once and return what it returns; or throw,
  /// and the frame ends with that error.
  func pass<Result: Sendable>(
    _ description: PassDescription, _ body: () async throws -> Result
  ) async throws -> Result
}

/// Looks on and does nothing.
public struct NoPassObserver: PassObserver {
  /// Observes nothing.
  public init() {}

  /// Runs the pass.
  public func pass<Result: Sendable>(
    _ description: PassDescription, _ body: () async throws -> Result
  ) async throws -> Result {
    try await body()
  }
}
