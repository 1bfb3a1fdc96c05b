import SidelightTelemetry
import Testing
import Tracing

@Suite struct OTLPTracerTests {
  let queue = SpanQueue(capacity: 1000, batchSize: 1000)

  func tracer(_ sampler: Sampler = .parentBased(root: .always)) -> OTLPTracer {
    OTLPTracer(sampler: sampler, queue: self.queue)
  }

  @Test func `a child shares its parent's trace, state and flags`() throws {
    let tracer = self.tracer()
    var context = ServiceContext.topLevel
    tracer.extract(
      [
        "traceparent": "00-\(TraceContextTests.trace)-\(TraceContextTests.span)-03",
        "tracestate": "a=1,b=2",
      ], into: &context, using: DictionaryCarrier())
    let parent = tracer.startSpan("parent", context: context, ofKind: .server)
    let child = tracer.startSpan("child", context: parent.context)
    child.end()
    parent.end()
    let spans = try #require(self.queue.takeBatch())
    #expect(spans.map(\.name) == ["child", "parent"])
    #expect(spans.allSatisfy { "\($0.context.traceID)" == TraceContextTests.trace })
    #expect(spans.allSatisfy { $0.context.state == "a=1,b=2" && $0.context.isRandom })
    #expect(spans[0].parent == spans[1].context)
    #expect(spans[1].parent.map { "\($0.spanID)" } == TraceContextTests.span)
    #expect(spans[1].parent?.isRemote == true)
    #expect(spans[0].parent?.isRemote == false)
    #expect(spans[1].start <= spans[0].start && spans[0].end <= spans[1].end)
  }

  @Test func `an injected context is extracted elsewhere`() throws {
    let tracer = self.tracer()
    let span = tracer.startSpan("root", context: .topLevel)
    var carrier: [String: String] = [:]
    tracer.inject(span.context, into: &carrier, using: DictionaryCarrier())
    #expect(carrier == ["traceparent": span.spanContext.traceparent])
    var context = ServiceContext.topLevel
    tracer.extract(carrier, into: &context, using: DictionaryCarrier())
    #expect(context.spanContext?.spanID == span.spanContext.spanID)
  }

  @Test func `an invalid context leaves the existing one unchanged`() {
    let tracer = self.tracer()
    var context = tracer.startSpan("root", context: .topLevel).context
    let before = context.spanContext
    tracer.extract(["traceparent": "garbage"], into: &context, using: DictionaryCarrier())
    #expect(context.spanContext == before)
  }

  @Test
  func `a span that is not sampled is not exported, and neither are its descendants`() throws {
    let tracer = self.tracer(.parentBased(root: .never))
    let root = tracer.startSpan("root", context: .topLevel)
    let child = tracer.startSpan("child", context: root.context)
    for span in [root, child] {
      #expect(!span.isRecording)
      span.attributes["key"] = "value"
      span.addEvent("event")
      span.end()
      #expect(span.attributes.isEmpty)
    }
    #expect(child.spanContext.traceID == root.spanContext.traceID)
    #expect(root.spanContext.traceparent.hasSuffix("-02"))
    #expect(self.queue.takeBatch() == nil)
  }

  @Test func `a span ends once, and later changes are ignored`() throws {
    let span = self.tracer().startSpan("before", context: .topLevel)
    span.operationName = "after"
    span.attributes["key"] = "value"
    #expect(span.isRecording)
    span.end()
    span.end()
    span.attributes["late"] = true
    #expect(!span.isRecording)
    let spans = try #require(self.queue.takeBatch())
    #expect(spans.map(\.name) == ["after"])
    #expect(spans[0].attributes == ["key": "value"])
  }

  @Test func `events beyond 128 are counted and dropped`() throws {
    let span = self.tracer().startSpan("root", context: .topLevel)
    for _ in 0 ..< 200 { span.addEvent("event") }
    span.end()
    let spans = try #require(self.queue.takeBatch())
    #expect(spans[0].events.count == 128)
    #expect(spans[0].droppedCounts.events == 72)
  }

  @Test func `an error becomes an event by the semantic conventions`() throws {
    struct Broken: Error {}
    let span = self.tracer().startSpan("root", context: .topLevel)
    span.recordError(Broken())
    span.end()
    let event = try #require(self.queue.takeBatch()?.first?.events.first)
    #expect(event.name == "exception")
    #expect(event.attributes.get("exception.message") == .string("Broken()"))
  }

  @Test func `IDs are unique and not zero`() {
    let tracer = self.tracer(.never)
    let spans = (0 ..< 10_000).map { _ in tracer.startSpan("", context: .topLevel).spanContext }
    #expect(Set(spans.map(\.traceID)).count == spans.count)
    #expect(Set(spans.map(\.spanID)).count == spans.count)
  }
}
