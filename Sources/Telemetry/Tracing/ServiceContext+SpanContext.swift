public import Tracing

extension ServiceContext {
  private enum SpanContextKey: ServiceContextKey {
    typealias Value = SpanContextBox
    static var nameOverride: String? { "span-context" }
  }

  /// The span that a context stands for: the parent of spans that are started in it.
  public internal(set) var spanContext: SpanContext? {
    get { self[SpanContextKey.self]?.value }
    set { self[SpanContextKey.self] = newValue.map(SpanContextBox.init) }
  }
}

/// A reference fits into the context's storage as it is; the value would be boxed anew at each copy.
private final class SpanContextBox: Sendable {
  let value: SpanContext

  init(_ value: SpanContext) {
    self.value = value
  }
}
