import SidelightKernels
import Tracing

/// Opens a span around each pass. The parent is given, not found: a streaming handler's body runs
/// after the interceptors' context is gone, and spans that trusted it would be orphans.
struct FramePassObserver: PassObserver {
  let tracer: (any Tracer)?
  let parent: ServiceContext?

  func pass<Result: Sendable>(
    _ description: PassDescription, _ body: () async throws -> Result
  ) async throws -> Result {
    guard let tracer, let parent else { return try await body() }
    return try await tracer.withSpan(description.name, context: parent) { span in
      span.attributes["sidelight.pass.filters"] = description.filters
      return try await body()
    }
  }
}
