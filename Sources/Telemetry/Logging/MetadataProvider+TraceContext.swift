public import Logging
import Tracing

extension Logger.MetadataProvider {
  /// Adds `trace_id` and `span_id` to entries that are logged within a span of ``OTLPTracer``.
  public static let traceContext = Logger.MetadataProvider {
    guard let span = ServiceContext.current?.spanContext else { return [:] }
    return ["trace_id": "\(span.traceID)", "span_id": "\(span.spanID)"]
  }
}
