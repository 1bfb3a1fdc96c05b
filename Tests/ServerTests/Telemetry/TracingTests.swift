import GRPCCore
import InMemoryTracing
import SidelightClient
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTelemetry
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Synchronization
import Testing
import Tracing

/// Spans through a real call: their parents, and that all of them end.
@Suite(.timeLimit(.minutes(5))) struct TracingTests {
  static let image = Sidelight_V1_Image.noise(.bgra8, 64, 48)
  static let pipeline: Pipeline = [.filter("sepiaTone"), .filter("gaussianBlur")]

  @Test
  func `each frame has one span with a child per pass, and no span is an orphan`() async throws {
    let tracer = W3CTracer()
    _ = try await withServer(tracer: tracer) { _, address in
      try await withStub(address) { stub in
        try await stub.converse(
          [.open(Self.pipeline)]
            + (1 ... 3).map { number in
              .frame(number, Self.image) {
                $0.trace.traceparent = "00-trace\(number)-root\(number)-01"
              }
            })
      }
    }
    let spans = tracer.memory.finishedSpans
    let passes = try FilterCatalogue.builtIn.resolve(Self.pipeline).plan(
      for: FrameGeometry(format: .bgra8, size: FrameSize(width: 64, height: 48))
    ).passes.map(\.name)
    #expect(passes.first == "sepiaTone")
    #expect(passes.last == "gaussianBlur")
    for number in 1 ... 3 {
      let trace = spans.filter { $0.traceID == "trace\(number)" }
      let frame = try #require(trace.first { $0.operationName == "sidelight.frame" })
      #expect(frame.parentSpanID == "root\(number)")
      #expect(frame.attributes.get("sidelight.sequence") == .int64(Int64(number)))
      #expect(frame.attributes.get("sidelight.outcome") == .string("filtered"))
      let children = trace.filter { $0.parentSpanID == frame.spanID }.map(\.operationName)
      #expect(children == ["sidelight.queue"] + passes)
      #expect(trace.count == 2 + passes.count, "the frame, its wait, and its passes")
    }
    let others = spans.filter { !$0.traceID.hasPrefix("trace") }
    #expect(
      others.map(\.operationName) == ["sidelight.v1.FrameFilter/Process"],
      "beside the frames' traces there is only the call's own span")
    #expect(spans.count == 3 * (2 + passes.count) + 1)
    #expect(tracer.memory.activeSpans.isEmpty)
  }

  @Test func `a frame without its own context is a child of the call's`() async throws {
    let tracer = W3CTracer()
    _ = try await withServer(tracer: tracer) { _, address in
      try await withStub(address) { stub in
        try await stub.process(metadata: ["traceparent": "00-call-root-01"]) { writer in
          try await writer.write(.open())
          try await writer.write(.frame(1, Self.image))
        } onResponse: { response in
          for try await _ in response.messages {}
        }
      }
    }
    let frame = try #require(
      tracer.memory.finishedSpans.first { $0.operationName == "sidelight.frame" })
    #expect(frame.traceID == "call")
    #expect(frame.parentSpanID == "root")
  }

  @Test(
    arguments: [
      "", "garbage", "00-only-three", String(repeating: "x", count: 10_000), "00--", "\u{0}\u{FF}",
    ])
  func `an invalid trace context is ignored`(traceparent: String) async throws {
    let tracer = W3CTracer()
    let answers = try await withServer(tracer: tracer) { _, address in
      try await withStub(address) { stub in
        try await stub.converse([
          .open(Self.pipeline), .frame(1, Self.image) { $0.trace.traceparent = traceparent },
        ])
      }
    }
    #expect(answers.frames.count == 1)
  }

  @Test func `the span of a dropped frame ends with the reason`() async throws {
    let tracer = W3CTracer()
    _ = try await withServer(tracer: tracer) { _, address in
      try await withStub(address) { stub in
        try await stub.converse([.open(), .frame(1, Sidelight_V1_Image())])
      }
    }
    let frame = try #require(
      tracer.memory.finishedSpans.first { $0.operationName == "sidelight.frame" })
    #expect(frame.attributes.get("sidelight.outcome") == .string("dropped"))
    #expect(frame.attributes.get("sidelight.drop.reason") == .string("invalid_frame"))
    #expect(frame.status?.code == .error)
    #expect(frame.status?.message?.contains("format") == true)
    #expect(tracer.memory.activeSpans.isEmpty)
  }

  @Test(arguments: ["00", "01"])
  func `a custom filter finds the frame's trace, recorded or not`(flags: String) async throws {
    let found = Mutex<[String]>([])
    var catalogue = FilterCatalogue()
    catalogue.register(
      CustomFilter(
        "look", "Looks for its trace.",
        frame: { input, output, _ in
          let trace = ServiceContext.current?.spanContext?.traceID
          found.withLock { $0.append(trace.map { "\($0)" } ?? "none") }
          copy(input, into: &output)
        }))
    let queue = SpanQueue(capacity: 100, batchSize: 100)
    let tracer = OTLPTracer(sampler: .parentBased(root: .always), queue: queue)
    let trace = "0af7651916cd43dd8448eb211c80319c"
    _ = try await withServer(catalogue: catalogue, tracer: tracer) { _, address in
      try await withStub(address) { stub in
        try await stub.converse([
          .open([.filter("look")]),
          .frame(1, Self.image) { $0.trace.traceparent = "00-\(trace)-b7ad6b7169203331-\(flags)" },
        ])
      }
    }
    #expect(found.withLock { $0 } == [trace])
    let recorded = queue.takeBatch()?.filter { "\($0.context.traceID)" == trace } ?? []
    #expect(recorded.isEmpty == (flags == "00"))
  }

  @Test func `the client library sends the trace context of a frame`() async throws {
    let server = W3CTracer()
    let client = W3CTracer()
    let root = try await withServer(tracer: server) { _, address in
      try await SidelightClient.connect(to: address, tracer: client) { connection in
        try await connection.withSession(SessionOptions(pipeline: Self.pipeline)) { session in
          let root = client.startSpan("capture", context: .topLevel)
          let picture = try Self.image.makeFrame()
          await ServiceContext.withValue(root.context) {
            _ = await session.send(VideoFrame(picture))
          }
          root.end()
          for try await _ in session.outcomes { break }
          return root.spanContext
        }
      }
    }
    let frame = try #require(
      server.memory.finishedSpans.first { $0.operationName == "sidelight.frame" })
    #expect(frame.traceID == root.traceID)
    #expect(frame.parentSpanID == root.spanID)
  }
}
