package import Tracing

/// A span that has ended, on its way to the collector.
package struct FinishedSpan: Sendable {
  package var name: String
  package var kind: SpanKind
  package var context: SpanContext
  package var parent: SpanContext?
  /// Nanoseconds since 1970.
  package var start: UInt64
  /// Nanoseconds since 1970; not before `start`.
  package var end: UInt64
  package var attributes: SpanAttributes
  package var events: [SpanEvent]
  package var links: [SpanLink]
  package var status: SpanStatus?
  /// Events and links that were beyond the limit.
  package var leftOut: (events: Int, links: Int)
}
