import SidelightTelemetry
import Testing

/// Tests of W3C Trace Context.
@Suite struct TraceContextTests {
  static let trace = "0af7651916cd43dd8448eb211c80319c"
  static let span = "b7ad6b7169203331"

  @Test(arguments: ["00", "01", "02", "03"])
  func `a parsed context is formatted unchanged`(flags: String) throws {
    let text = "00-\(Self.trace)-\(Self.span)-\(flags)"
    let context = try #require(SpanContext(traceparent: text, tracestate: "vendor=1"))
    #expect(context.traceparent == text)
    #expect(context.isSampled == (flags == "01" || flags == "03"))
    #expect(context.isRandom == (flags == "02" || flags == "03"))
    #expect("\(context.traceID)" == Self.trace)
    #expect("\(context.spanID)" == Self.span)
    #expect(context.state == "vendor=1")
    #expect(context.isRemote)
  }

  @Test func `later versions are parsed as version 00, and formatted in version 00`() throws {
    for text in [
      "01-\(Self.trace)-\(Self.span)-01", "cc-\(Self.trace)-\(Self.span)-09-what-is-this",
    ] {
      let context = try #require(SpanContext(traceparent: text))
      #expect(context.traceparent == "00-\(Self.trace)-\(Self.span)-01")
    }
  }

  @Test(
    arguments: [
      "", "00", "garbage", "\u{0}\u{FF}", String(repeating: "0", count: 10_000),
      "00-\(trace)-\(span)", "00-\(trace)-\(span)-1", "00-\(trace)-\(span)-01-more",
      "00-\(trace)-\(span)-01 ", " 00-\(trace)-\(span)-01", "ff-\(trace)-\(span)-01",
      "00-\(trace.uppercased())-\(span)-01", "00-\(trace)-\(span)-0g", "00_\(trace)_\(span)_01",
      "00-00000000000000000000000000000000-\(span)-01", "00-\(trace)-0000000000000000-01",
      "01-\(trace)-\(span)-01x", "0é-\(trace)-\(span)-01",
    ])
  func `an invalid header is ignored`(text: String) {
    #expect(SpanContext(traceparent: text) == nil)
  }

  @Test(
    arguments: [String(repeating: "x", count: 513), "a=1\nb=2", "a=\u{0}", "a=é"])
  func `an invalid or long tracestate is dropped, and the parent is kept`(tracestate: String) throws
  {
    let context = try #require(
      SpanContext(traceparent: "00-\(Self.trace)-\(Self.span)-01", tracestate: tracestate))
    #expect(context.state.isEmpty)
  }
}
