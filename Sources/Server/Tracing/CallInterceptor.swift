import GRPCCore
import Tracing

/// A span, and a time, for each call, by OpenTelemetry's conventions for gRPC (1.44).
///
/// The body of a streaming handler runs after `next` has returned, in the response's producer; so both
/// get the span's context, and the span ends with the producer. What happens in a session is told by
/// the spans of its frames, never as events of a span that is as long as the call.
struct CallInterceptor: ServerInterceptor {
  let tracer: (any Tracer)?
  let metrics: ServerMetrics
  let clock: SessionClock

  func intercept<Input: Sendable, Output: Sendable>(
    request: StreamingServerRequest<Input>, context: ServerContext,
    next:
      @concurrent @Sendable (StreamingServerRequest<Input>, ServerContext) async throws ->
      StreamingServerResponse<Output>
  ) async throws -> StreamingServerResponse<Output> {
    let call = CallSpan(
      context, metadata: request.metadata, tracer: self.tracer, metrics: self.metrics,
      clock: self.clock)
    var response: StreamingServerResponse<Output>
    do {
      response = try await call.within { try await next(request, context) }
    } catch {
      call.end(error)
      throw error
    }
    switch response.accepted {
    case .failure(let error): call.end(error)
    case .success(var contents):
      let produce = contents.producer
      contents.producer = { writer in
        do {
          let metadata = try await call.within { try await produce(writer) }
          call.end(nil)
          return metadata
        } catch {
          call.end(error)
          throw error
        }
      }
      response.accepted = .success(contents)
    }
    return response
  }
}
