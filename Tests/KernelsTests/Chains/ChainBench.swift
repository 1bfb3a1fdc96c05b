import SidelightKernels
import SidelightReference

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Runs random chains in every way that must give the same result.
struct ChainBench: Sendable {
  /// One bench per instruction set of this machine, shared by all tests.
  static let all = InstructionSet.available.map { ChainBench($0) }

  let instructionSet: InstructionSet
  /// Runs passes as a whole.
  private let whole: PlanExecutor
  /// Divides passes into five bands, even if they have few pixels.
  private let banded: PlanExecutor

  private init(_ instructionSet: InstructionSet) {
    self.instructionSet = instructionSet
    let compute = ComputePool(threadCount: 3, instructionSet: instructionSet)
    let pool = BufferPool()
    self.whole = PlanExecutor(
      pool: pool, compute: compute, fixedBands: BandRunner(maxBands: 1))
    self.banded = PlanExecutor(
      pool: pool, compute: compute,
      fixedBands: BandRunner(maxBands: 5, minBandNanoseconds: 0))
  }

  /// The bench that runs the exact comparisons of a seed.
  static func any(_ seed: UInt64) -> ChainBench { Self.all[Int(seed % UInt64(Self.all.count))] }

  func run(
    _ pipeline: Pipeline, _ frame: Frame, _ index: UInt64, inBands: Bool = false
  ) async throws -> Frame {
    let plan = try Self.plan(pipeline, frame.geometry)
    return try await (inBands ? self.banded : self.whole)
      .run(plan, on: frame, at: FrameTime(index: index))
  }

  func run(
    _ plan: Plan, _ frame: Frame, into destination: consuming MutableFrame, _ index: UInt64,
    inBands: Bool = false
  ) async throws -> Frame {
    try await (inBands ? self.banded : self.whole)
      .run(plan, on: frame, into: destination, at: FrameTime(index: index))
  }

  static func plan(_ pipeline: Pipeline, _ geometry: FrameGeometry) throws -> Plan {
    try Self.catalogue.resolve(pipeline).plan(for: geometry)
  }

  /// Returns the pipeline's result, computed naively.
  static func reference(_ pipeline: Pipeline, _ frame: Frame, _ index: UInt64) throws -> [[UInt8]] {
    ReferenceInterpreter(time: FrameTime(index: index))
      .apply(try Self.catalogue.resolve(pipeline), to: ReferencePicture(frame)).encoded()
  }

  /// The maximum difference between a pipeline's result and the reference, in levels.
  func difference(
    _ pipeline: Pipeline, _ frame: Frame, _ index: UInt64
  ) async throws -> Double {
    try await self.run(pipeline, frame, index)
      .worstDifference(from: Self.reference(pipeline, frame, index))
  }

  /// The built-in filters, and a neutral one that prevents its neighbours from folding.
  static let catalogue: FilterCatalogue = {
    var catalogue = ChainAssets.catalogue
    catalogue.register(Barrier())
    return catalogue
  }()

  private struct Barrier: Filter, ColorKernel {
    var description: FilterDescription {
      FilterDescription(
        name: "barrier", summary: "", category: .custom, reach: .pixel, fidelity: .formula,
        formula: "")
    }

    func nodes(for geometry: FrameGeometry) -> [FilterNode] { [.colorKernel(self)] }

    func callAsFunction(_ pixel: Pixel, at position: PixelPosition) -> Pixel { pixel }
  }

  /// The seeds of a batch; only the seed in SIDELIGHT_CHAIN if it is set.
  static func seeds(batch: Int, of count: Int) -> [UInt64] {
    if let named = unsafe getenv("SIDELIGHT_CHAIN") {
      return batch == 0 ? [UInt64(unsafe String(cString: named)) ?? 0] : []
    }
    return (0 ..< count).map { UInt64(batch * count + $0) }
  }
}

extension Pipeline {
  /// The same, with a barrier after every filter to prevent folding.
  var unfolded: Pipeline {
    Pipeline(
      stages: self.stages.map { stage in
        var copy = stage
        copy.content =
          switch stage.content {
          case .filter: .pipeline([Stage(stage.content), .filter("barrier")])
          case .pipeline(let inner): .pipeline(inner.unfolded)
          }
        return copy
      })
  }

  /// The same, with a run of stages nested as a pipeline, and a run of the resulting stages nested
  /// as another.
  func nested(_ random: inout TestRandom) -> Pipeline {
    var stages = self.stages
    for _ in 0 ..< 2 {
      let lower = Int.random(in: 0 ..< stages.count, using: &random)
      let upper = Int.random(in: lower ..< stages.count, using: &random)
      let inner = Pipeline(stages: Array(stages[lower ... upper]))
      stages.replaceSubrange(lower ... upper, with: [Stage(.pipeline(inner))])
    }
    return Pipeline(stages: stages)
  }

  /// The same without the inactive stages.
  var active: Pipeline {
    Pipeline(
      stages: self.stages.filter(\.isActive).map { stage in
        guard case .pipeline(let inner) = stage.content else { return stage }
        var copy = stage
        copy.content = .pipeline(inner.active)
        return copy
      })
  }
}
