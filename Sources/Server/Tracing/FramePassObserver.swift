package import SidelightKernels
import Tracing

/// Opens a span around each pass, and tells how long it took. The parent is given, not found: a
/// streaming handler's body runs after the interceptors' context is gone, and spans that trusted it
/// would be orphans.
package struct FramePassObserver: PassObserver {
  /// `nil` if the frame's trace is not recorded.
  let tracer: (any Tracer)?
  /// The frame's trace, recorded or not.
  let context: ServiceContext?
  let metrics: ServerMetrics
  let clock: SessionClock

  package func pass<Result: Sendable>(
    _ description: PassDescription, _ body: () async throws -> Result
  ) async throws -> Result {
    let start = self.clock.now()
    let result = try await self.traced(description, body)
    self.metrics.recordPass(description.name, self.clock.now() - start)
    return result
  }

  private func traced<Result: Sendable>(
    _ description: PassDescription, _ body: () async throws -> Result
  ) async throws -> Result {
    guard let tracer, let context else {
      // A filter of a user's own may look for its trace, and must not find the call's.
      guard description.kind == .frame, let context else { return try await body() }
      return try await ServiceContext.withValue(context) { try await body() }
    }
    let name = description.name.clipped(toBytes: 256)
    return try await tracer.withSpan(name, context: context) { span in
      span.attributes["sidelight.pass.filters"] = description.filters
      return try await body()
    }
  }
}
