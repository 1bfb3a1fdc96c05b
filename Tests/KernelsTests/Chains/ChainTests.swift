import SidelightKernels
import Testing

/// Compares plans with the reference, for thousands of random chains over all filters of the
/// catalogue.
///
/// The reference interpreter computes node by node in double precision, without folding, fusing,
/// approximating or dividing into bands. Every chain is compared on all instruction sets of this
/// machine. The tolerance is one level; two if the chain has a sharpening, or a Gaussian so wide
/// (from a standard deviation of 4.8 on) that it works on a reduced picture.
///
/// On x86-64 the portable rows are arm64's, compiled for SSE2 instead of NEON. The tests have not
/// been run on arm64.
@Suite struct `Random chains` {
  static let batches = 0 ..< 200
  static let perBatch = 40

  @Test(arguments: Self.batches)
  func `a chain equals the reference on each instruction set`(_ batch: Int) async throws {
    for seed in ChainBench.seeds(batch: batch, of: Self.perBatch) {
      let chain = RandomChain(seed: seed)
      let frame = try chain.frame()
      let reference = try ChainBench.reference(chain.pipeline, frame, chain.index)
      for bench in ChainBench.all {
        let result = try await bench.run(chain.pipeline, frame, chain.index)
        try await Self.expectReference(result, to: reference, chain, bench)
      }
      let bench = ChainBench.any(seed)
      let unfolded = try await bench.run(chain.pipeline.unfolded, frame, chain.index)
      try await Self.expectReference(unfolded, to: reference, chain, bench, "unfolded")
    }
  }

  @Test(arguments: Self.batches)
  func `nesting, bands and inactive stages do not change the bytes`(
    _ batch: Int
  ) async throws {
    for seed in ChainBench.seeds(batch: batch, of: Self.perBatch) {
      let chain = RandomChain(seed: seed, smoothly: false)
      let bench = ChainBench.any(seed)
      let frame = try chain.frame()
      let samples = try await bench.run(chain.pipeline, frame, chain.index).samples
      var random = TestRandom(seed: seed)
      let nested = try await bench.run(chain.pipeline.nested(&random), frame, chain.index)
      #expect(nested.samples == samples, "nested \(chain)")
      let banded = try await bench.run(chain.pipeline, frame, chain.index, inBands: true)
      #expect(banded.samples == samples, "banded \(chain)")
      let active = try await bench.run(chain.pipeline.active, frame, chain.index)
      #expect(active.samples == samples, "active \(chain)")
    }
  }

  @Test(arguments: Self.batches)
  func `the destination and its strides do not change the bytes`(
    _ batch: Int
  ) async throws {
    for seed in ChainBench.seeds(batch: batch, of: Self.perBatch) {
      let chain = RandomChain(seed: seed, smoothly: false)
      let bench = ChainBench.any(seed)
      let frame = try chain.frame()
      let plan = try ChainBench.plan(chain.pipeline, frame.geometry)
      let samples = try await bench.run(chain.pipeline, frame, chain.index).samples
      for destination in DestinationCase.allCases {
        guard let outcome = try await destination.run(plan, frame, bench, chain) else { continue }
        #expect(outcome.frame.samples == samples, "\(destination) \(chain)")
        #expect(outcome.touchedPadding == 0, "\(destination) \(chain)")
      }
    }
  }

  @Test func `the chains contain every filter on every format`() {
    var missing = Set(
      RandomStages.descriptions.flatMap { description in
        PixelFormat.allCases.map { "\(description.name) on \($0)" }
      })
    for seed in 0 ..< UInt64(Self.batches.count * Self.perBatch) {
      let chain = RandomChain(seed: seed)
      func record(_ pipeline: Pipeline) {
        for stage in pipeline.stages where stage.isActive {
          switch stage.content {
          case .filter(let call): missing.remove("\(call.name) on \(chain.geometry.format)")
          case .pipeline(let inner): record(inner)
          }
        }
      }
      record(chain.pipeline)
    }
    #expect(missing.isEmpty)
  }

  /// The longest rows and columns, for which counters and tables must suffice.
  @Test(
    arguments: 0 ..< 40,
    [FrameSize(width: 16384, height: 1), FrameSize(width: 1, height: 16384)])
  func `a chain equals the reference on the longest rows and columns`(
    _ number: Int, _ size: FrameSize
  ) async throws {
    let chain = RandomChain(seed: UInt64(number) + 1_000_000, size: size)
    let frame = try chain.frame()
    let reference = try ChainBench.reference(chain.pipeline, frame, chain.index)
    for bench in ChainBench.all {
      let result = try await bench.run(chain.pipeline, frame, chain.index, inBands: true)
      let worst = result.worstDifference(from: reference)
      #expect(worst <= chain.tolerance, "\(bench.instructionSet) \(chain)")
    }
  }

  /// Expects a chain's result to be within its tolerance of the reference; shrinks the chain
  /// otherwise.
  private static func expectReference(
    _ result: Frame, to reference: [[UInt8]], _ chain: RandomChain, _ bench: ChainBench,
    _ label: String = ""
  ) async throws {
    let worst = result.worstDifference(from: reference)
    guard worst > chain.tolerance else { return }
    let frame = try chain.frame()
    let least = try await chain.pipeline.shrunk { pipeline in
      try await bench.difference(pipeline, frame, chain.index) > chain.tolerance
    }
    Issue.record(
      """
      \(worst) levels, \(bench.instructionSet) \(label) \(chain)
      shrunk: \(least.summary)
      """)
  }
}
