import InMemoryTracing
import Tracing

private func hexadecimal(digits: Int) -> String {
  String((0 ..< digits).map { _ in "0123456789abcdef".randomElement() ?? "0" })
}

/// The package's in-memory tracer, speaking W3C trace context: `00-TRACE-SPAN-01`.
struct W3CTracer: Tracer {
  /// Called with the name of a span that starts.
  var onStart: @Sendable (String) -> Void = { _ in }
  let memory = InMemoryTracer(
    idGenerator: InMemoryTracer.IDGenerator(
      nextTraceID: { hexadecimal(digits: 32) }, nextSpanID: { hexadecimal(digits: 16) }))

  func startSpan<Instant: TracerInstant>(
    _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
    at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
  ) -> InMemorySpan {
    self.onStart(operationName)
    return self.memory.startSpan(
      operationName, context: context(), ofKind: kind, at: instant(), function: function,
      file: fileID, line: line)
  }

  func forceFlush() {}

  func inject<Carrier, Inject: Injector>(
    _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
  ) where Inject.Carrier == Carrier {
    guard let span = context.inMemorySpanContext else { return }
    injector.inject("00-\(span.traceID)-\(span.spanID)-01", forKey: "traceparent", into: &carrier)
  }

  func extract<Carrier, Extract: Extractor>(
    _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
  ) where Extract.Carrier == Carrier {
    guard let parts = extractor.extract(key: "traceparent", from: carrier)?.split(separator: "-"),
      parts.count == 4
    else { return }
    context.inMemorySpanContext = InMemorySpanContext(
      traceID: String(parts[1]), spanID: String(parts[2]), parentSpanID: nil)
  }
}
