import SidelightKernelLanguage
import SidelightKernels
import Testing

/// The limits of the memory of plans, singly and together.
@Suite struct PlanBudgetTests {
  /// A field that only a grid of every pixel can follow: 4 bytes a pixel.
  struct Steep: CatalogueFilter {
    static let description = FilterDescription(
      name: "steep", summary: "A steep field.", category: .effect, reach: .pixel,
      fidelity: .custom, formula: "colour * f(x, y)",
      parameters: [
        ParameterDescription(
          "seed", .number, default: .number(1), slider: 0 ... 100, limits: 0 ... 1000, "Another.")
      ])

    let seed: Double

    init(_ arguments: Arguments) { self.seed = arguments.number("seed") }

    func nodes(for geometry: FrameGeometry) -> [FilterNode] {
      let seed = UInt64(self.seed)
      return [
        .field(
          .smooth { x, y in
            // A hash of the position, which makes neighbours unrelated.
            let index =
              UInt64(x * 2) &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(y * 2) &* 0xBF58_476D_1CE4_E5B9
            let mixed = (index &+ seed) &* 0x94D0_49BB_1331_11EB
            return 0.5 + Double(mixed >> 40) / Double(1 << 25)
          })
      ]
    }
  }

  static let size = FrameSize(width: 320, height: 200)
  /// The minimum size of a steep field.
  static let fieldBytes = 4 * Self.size.pixelCount
  static var catalogue: FilterCatalogue {
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(Steep.self)
    return catalogue
  }

  static func pipeline(_ count: Int, seed: Int = 0, linear: Bool = false) throws -> ResolvedPipeline
  {
    var pipeline = Pipeline(
      stages: (0 ..< count).map { .filter("steep", ["seed": .number(Double(seed + $0))]) })
    if linear { pipeline.workingSpace = .sRGBLinear }
    return try Self.catalogue.resolve(pipeline)
  }

  /// In integers on bytes, in strips of floats, with a conversion, in groups.
  @Test(
    arguments: PixelFormat.allCases)
  func `a plan counts its fields, in whatever kind of pass they are`(_ format: PixelFormat) throws {
    let geometry = FrameGeometry(format: format, size: Self.size)
    let encoding = FrameEncoding(format: format == .rgb24 ? .i420 : .rgb24)
    var mixed = Pipeline(stages: [.filter("steep"), .filter("steep", ["seed": .number(7)])])
    mixed = Pipeline(stages: [Stage(.pipeline(mixed), mix: 0.5)])
    let plans = [
      try Self.pipeline(2).plan(for: geometry),
      try Self.pipeline(2, linear: true).plan(for: geometry),
      try Self.pipeline(2).plan(for: geometry, as: encoding),
      try Self.pipeline(2, linear: true).plan(for: geometry, as: encoding),
      try Self.catalogue.resolve(mixed).plan(for: geometry),
    ]
    for plan in plans {
      #expect((2 * Self.fieldBytes ..< 3 * Self.fieldBytes).contains(plan.byteCost))
    }
  }

  @Test
  func `a plan beyond its limit is refused, whatever it would have been, and one below is not`()
    throws
  {
    let limit = 3 * Self.fieldBytes
    for linear in [false, true] {
      for format in [PixelFormat.bgra8, .i420] {
        let geometry = FrameGeometry(format: format, size: Self.size)
        let modest = try Self.pipeline(2, linear: linear).plan(for: geometry, maxBytes: limit)
        #expect(modest.refusal == nil)
        let greedy = try Self.pipeline(64, linear: linear).plan(for: geometry, maxBytes: limit)
        let refusal = try #require(greedy.refusal)
        #expect(refusal.limit == limit)
        #expect(!refusal.isShared)
        // It was given up as soon as it was too much.
        #expect((limit ..< 2 * limit).contains(refusal.byteCount))
        #expect(greedy.byteCost == 0)
        #expect(greedy.passes.isEmpty)
        #expect(!greedy.isIdentity)
        #expect(greedy.output == geometry)
        #expect(greedy.description.contains("\(limit)"))
      }
    }
  }

  @Test func `a cache keeps refusals, and plans in use count until they are released`() throws {
    let geometry = FrameGeometry(format: .bgra8, size: Self.size)
    let cache = PlanCache(
      maxPlanBytes: 3 * Self.fieldBytes, maxLiveBytes: 5 * Self.fieldBytes + 65_536)
    #expect(cache.plan(for: try Self.pipeline(9), geometry).refusal?.isShared == false)
    #expect(cache.contents.plans == 1)

    var used = [cache.plan(for: try Self.pipeline(2), geometry)]
    used.append(cache.plan(for: try Self.pipeline(2, seed: 10), geometry))
    #expect(used.allSatisfy { $0.refusal == nil })
    // Neither can be evicted.
    let third = cache.plan(for: try Self.pipeline(2, seed: 20), geometry)
    #expect(third.refusal?.isShared == true)
    // A plan that holds very little memory always fits.
    let small = try Self.catalogue.resolve([.filter("sepiaTone")])
    #expect(cache.plan(for: small, geometry).refusal == nil)

    used.removeFirst()
    let again = cache.plan(for: try Self.pipeline(2, seed: 20), geometry)
    #expect(again.refusal == nil)
    withExtendedLifetime((used, again)) {}
  }

  @Test func `plans that only the cache keeps make room for others`() throws {
    let geometry = FrameGeometry(format: .bgra8, size: Self.size)
    let cache = PlanCache(maxLiveBytes: 5 * Self.fieldBytes + 65_536)
    for seed in 0 ..< 8 {
      #expect(cache.plan(for: try Self.pipeline(2, seed: seed), geometry).refusal == nil)
    }
    #expect((1 ... 2).contains(cache.contents.plans))
  }
}
