public import Tracing

extension ServiceContext {
  private enum SpanContextKey: ServiceContextKey {
    typealias Value = SpanContextBox
    static var nameOverride: String? { "span-context" }
  }

  /// The current span of the context: the parent of spans that are started in it.
  public internal(set) var spanContext: SpanContext? {
    get { self[SpanContextKey.self]?.value }
    set { self[SpanContextKey.self] = newValue.map(SpanContextBox.init) }
  }
}

/// A class instance fits into the context's storage; a value would be boxed again on each copy.
private final class SpanContextBox: Sendable {
  let value: SpanContext

  init(_ value: SpanContext) {
    self.value = value
  }
}
