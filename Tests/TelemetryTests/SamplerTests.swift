import SidelightTelemetry
import Testing

@Suite struct SamplerTests {
  static func context(sampled: Bool) throws -> SpanContext {
    SpanContext(
      traceID: try #require(TraceID(high: 1, low: .max)), spanID: try #require(SpanID(1)),
      isSampled: sampled)
  }

  /// The decisions of Python's `opentelemetry.sdk.trace.sampling.TraceIdRatioBased`.
  @Test(
    arguments: [
      (0.5, 0x7FFF_FFFF_FFFF_F000, true), (0.5, 0x8000_0000_0000_0000, false),
      (0.25, 0x3FFF_FFFF_FFFF_F000, true), (0.25, 0x4000_0000_0000_0000, false),
      (1, UInt64.max - 0xFFF, true), (0, 0, false), (0, 1, false),
      (0.001, 0x0041_0000_0000_0000, true),
      (0.001, 0x0042_0000_0000_0000, false),
    ] as [(Double, UInt64, Bool)])
  func `a ratio decides by the last 64 bits of the trace ID, as other SDKs do`(
    ratio: Double, low: UInt64, isSampled: Bool
  ) throws {
    let trace = try #require(TraceID(high: 1, low: low))
    #expect(Sampler.ratio(ratio).samples(trace, parent: nil) == isSampled)
  }

  @Test func `a ratio of 1 samples every trace`() throws {
    let trace = try #require(TraceID(high: 1, low: .max))
    #expect(Sampler.ratio(1).samples(trace, parent: nil))
  }

  @Test func `a higher ratio records everything that a lower one does`() throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0 ..< 1000 {
      let trace = try #require(TraceID(high: 1, low: random.next()))
      let decisions = [0.01, 0.1, 0.3, 0.7, 0.99].map {
        Sampler.ratio($0).samples(trace, parent: nil)
      }
      #expect(decisions == decisions.sorted { !$0 && $1 })
    }
  }

  @Test func `the parent-based sampler uses the root sampler only without a parent`() throws {
    let trace = try #require(TraceID(high: 1, low: 1))
    for root in [Sampler.always, .never] {
      let sampler = Sampler.parentBased(root: root)
      #expect(sampler.samples(trace, parent: try Self.context(sampled: true)))
      #expect(!sampler.samples(trace, parent: try Self.context(sampled: false)))
      #expect(sampler.samples(trace, parent: nil) == (root == .always))
    }
    #expect(Sampler.always.samples(trace, parent: try Self.context(sampled: false)))
    #expect(!Sampler.never.samples(trace, parent: try Self.context(sampled: true)))
  }
}
