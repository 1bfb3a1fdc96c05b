import Foundation
import Metrics
import SidelightKernels
import SidelightServer
import SidelightTelemetry
import SidelightWire
import SwiftProtobuf
import Testing
import Tracing

/// Measures the cost of a frame's trace and its times, compared with its pixels:
/// `dev/bench telemetry` prints it. It doesn't assert, as a busy machine must not fail a test.
@Suite(
  .serialized, .enabled(if: ProcessInfo.processInfo.environment["SIDELIGHT_BENCH_TELEMETRY"] != nil)
)
struct FrameTracingCost {
  /// A way to serve a frame, and its cost per round, in nanoseconds.
  private final class Subject {
    let name: String
    let tracing: FrameTracing
    let frame: Sidelight_V1_Frame
    let queue: SpanQueue?
    var nanoseconds: [Double] = []

    init(
      _ name: String, _ tracer: (any Tracer)?, frame: Sidelight_V1_Frame, queue: SpanQueue? = nil
    ) {
      self.name = name
      self.frame = frame
      self.queue = queue
      self.tracing = FrameTracing(
        tracer: tracer, metrics: ServerMetrics(factory: PrometheusRegistry()), clock: .system)
    }

    var median: Double { self.nanoseconds.sorted()[self.nanoseconds.count / 2] }
  }

  private static let framesARound = 1000
  private static let rounds = 101

  @Test
  func `the cost of tracing a frame without a tracer, not sampled, and sampled`() async throws {
    let traced = { (flags: String) in
      Sidelight_V1_Frame.with {
        $0.sequence = 1
        $0.trace.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-\(flags)"
      }
    }
    let untraced = Sidelight_V1_Frame.with { $0.sequence = 1 }
    let queue = SpanQueue(capacity: 4 * Self.framesARound, batchSize: 4 * Self.framesARound)
    let tracer = OTLPTracer(sampler: .parentBased(root: .always), queue: queue)
    let ratio = OTLPTracer(sampler: .parentBased(root: .ratio(0)), queue: queue)
    let subjects = [
      Subject("no tracer: times only", nil, frame: traced("01")),
      Subject("sampled out by the sender", tracer, frame: traced("00"), queue: queue),
      Subject("sampled out here", ratio, frame: untraced, queue: queue),
      Subject("sampled: frame, queue, two passes", tracer, frame: traced("01"), queue: queue),
    ]
    let passes = ["gaussianBlur", "sepiaTone"].map {
      PassDescription(filters: [$0], kind: .pointwise, summary: "")
    }
    for _ in 0 ..< Self.rounds {
      for subject in subjects {
        let start = ContinuousClock.now
        for _ in 0 ..< Self.framesARound {
          try await Self.serve(subject.frame, subject.tracing, passes)
        }
        let elapsed = start.duration(to: .now) / .nanoseconds(1)
        subject.nanoseconds.append(elapsed / Double(Self.framesARound))
        // Sending is the exporter's work, outside the frames' path.
        _ = subject.queue?.takeBatch()
      }
    }
    #expect(queue.counts.dropped == 0)
    print(
      "What a frame costs in the server's own threads, less its pixels: medians of \(Self.rounds)")
    for subject in subjects {
      let more = subject.median - subjects[0].median
      print(
        String(
          format: "%6.2f us  (tracing: %5.2f us)  ", subject.median / 1000, more / 1000)
          + subject.name)
    }
  }

  private static func serve(
    _ frame: Sidelight_V1_Frame, _ tracing: FrameTracing, _ passes: [PassDescription]
  ) async throws {
    let span = tracing.startFrame(
      frame, byteCount: 0, session: "0123456789abcdef", callContext: .topLevel)
    span.leaveQueue()
    let observer = span.passObserver
    for pass in passes { try await observer.pass(pass) {} }
    span.end(finished: .filtered)
  }
}
