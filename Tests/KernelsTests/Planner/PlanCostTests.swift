import SidelightKernelLanguage
import SidelightKernels
import Testing

/// The memory of plans, and the parts that they share.
@Suite struct `The memory of plans` {
  static let geometry = FrameGeometry(format: .i420, size: FrameSize(width: 320, height: 200))

  static func catalogue() throws -> FilterCatalogue {
    var catalogue = FilterCatalogue.builtIn
    let photo = try TestFrame.make(
      FrameGeometry(format: .rgb24, size: FrameSize(width: 100, height: 80)))
    catalogue.assets = AssetStore(["photo": .image(try ImageAsset(photo))])
    return catalogue
  }

  static func overlay(_ opacity: Double, width: Double = 200) -> Pipeline {
    [
      .filter(
        "overlay",
        [
          "asset": .text("photo"), "opacity": .number(opacity), "width": .number(width),
          "fit": .text("stretch"),
        ])
    ]
  }

  @Test func `the cost of a plan includes its images and fields`() throws {
    let catalogue = try Self.catalogue()
    func cost(_ pipeline: Pipeline) throws -> Int {
      try catalogue.resolve(pipeline).plan(for: Self.geometry).byteCost
    }
    let plain = try cost([.filter("sepiaTone")])
    #expect(try cost([]) == 0)
    #expect((1 ... 8192).contains(plain))
    #expect(
      try cost([.filter("sepiaTone"), .filter("vignette", ["intensity": .number(1)])]) > plain)
    // 200 x 200 pixels of four 16-bit samples.
    let image = try cost(Self.overlay(1)) - plain
    #expect(image == 200 * 200 * 8)
    let mask = try cost([
      .filter(
        "blendWithMask", ["maskImage": .text("photo"), "backgroundImage": .text("photo")])
    ])
    #expect(mask >= 2 * 320 * 200 * 8)
    let mixed = Stage(.pipeline(Self.overlay(1)), mix: 0.5)
    #expect(try cost([mixed]) >= 200 * 200 * 8)
  }

  @Test func `the cache is bounded by bytes`() throws {
    let catalogue = try Self.catalogue()
    let pipelines = try (1 ... 6).map {
      try catalogue.resolve(Self.overlay(1, width: Double(100 + $0)))
    }
    let one = pipelines[5].plan(for: Self.geometry).byteCost
    let cache = PlanCache(capacity: 64, maxBytes: 3 * one)
    for pipeline in pipelines {
      #expect(cache.plan(for: pipeline, Self.geometry).input == Self.geometry)
      #expect(cache.contents.bytes <= 3 * one)
    }
    #expect(cache.contents.plans == 3)
    // Asking again for an existing plan keeps the contents.
    _ = cache.plan(for: pipelines[5], Self.geometry)
    #expect(cache.contents.plans == 3)
    let small = PlanCache(capacity: 64, maxBytes: one / 2)
    #expect(small.plan(for: pipelines[0], Self.geometry).passes.count == 1)
    #expect(small.contents == (0, 0))
  }

  /// The image of the catalogue.
  static func image(_ catalogue: FilterCatalogue) throws -> ImageAsset {
    guard case .image(let image)? = catalogue.assets.asset(named: "photo") else { throw NoImage() }
    return image
  }

  struct NoImage: Error {}

  /// Other parameters create a new plan, in microseconds; its costly parts are reused.
  @Test func `a change of opacity does not resample an image`() async throws {
    let catalogue = try Self.catalogue()
    let image = try Self.image(catalogue)
    #expect(image.placementCount == 0)
    // A session has the old plan until it has the new one, and some more.
    var plans: [Plan] = []
    for step in 1 ... 20 {
      plans.append(
        try catalogue.resolve(Self.overlay(Double(step) / 20)).plan(for: Self.geometry))
    }
    #expect(image.placementCount == 1)
    // Another position is another image; the first one exists as long as a plan uses it.
    plans.append(try catalogue.resolve(Self.overlay(1, width: 150)).plan(for: Self.geometry))
    _ = try catalogue.resolve(Self.overlay(1)).plan(for: Self.geometry)
    #expect(image.placementCount == 2)
    withExtendedLifetime(plans) {}
  }

  @Test func `a resampled image is released with the last plan that uses it`() throws {
    let catalogue = try Self.catalogue()
    let image = try Self.image(catalogue)
    for number in 1 ... 3 {
      _ = try catalogue.resolve(Self.overlay(1)).plan(for: Self.geometry)
      #expect(image.placementCount == number)
    }
  }

  @Test func `a resampled image is shared within a working space`() throws {
    let catalogue = try Self.catalogue()
    let image = try Self.image(catalogue)
    var plans: [Plan] = []
    for amount in 1 ... 10 {
      var pipeline = Self.overlay(1)
      pipeline.stages.insert(
        .filter("sepiaTone", ["intensity": .number(Double(amount) / 10)]), at: 0)
      plans.append(try catalogue.resolve(pipeline).plan(for: Self.geometry))
    }
    #expect(image.placementCount == 1)
    var linear = Self.overlay(1)
    linear.workingSpace = .sRGBLinear
    for _ in 0 ..< 3 { plans.append(try catalogue.resolve(linear).plan(for: Self.geometry)) }
    #expect(image.placementCount == 2)
    withExtendedLifetime(plans) {}
  }

  @Test func `plans share the memory of noise and lookup tables`() throws {
    let noise = unsafe NoiseTable.start
    let geometry = Self.geometry
    for amount in 1 ... 5 {
      _ = try FilterCatalogue.builtIn
        .resolve([.filter("grain", ["amount": .number(Double(amount) / 5)])]).plan(for: geometry)
    }
    #expect(unsafe NoiseTable.start == noise)
    let entries: [Float] = (0 ..< 8).flatMap { _ in [0, 0.5, 1] as [Float] }
    let cube = CubeAsset(
      title: "", shape: .cube(size: 2), domainLow: [0, 0, 0], domainHigh: [1, 1, 1],
      entries: entries)
    var catalogue = FilterCatalogue.builtIn
    catalogue.assets = AssetStore(["look": .cube(cube)])
    let plans = try [0.2, 0.7].map {
      try catalogue.resolve([
        .filter("colorCube", ["asset": .text("look"), "intensity": .number($0)])
      ]).plan(for: geometry)
    }
    // The table is the asset's: plans that use it cost no more than any other.
    #expect(plans.allSatisfy { $0.byteCost <= 8192 })
  }

  @Test func `activating a stage again finds the cached plan`() throws {
    var pipeline: Pipeline = [
      Stage(.filter(FilterCall(name: "sepiaTone")), id: "look"), .filter("colorInvert"),
    ]
    let cache = PlanCache()
    for isActive in [true, false, true, false, true] {
      try pipeline.setActive(isActive, stage: "look")
      _ = cache.plan(for: try FilterCatalogue.builtIn.resolve(pipeline), Self.geometry)
    }
    #expect(cache.contents.plans == 2)
  }
}
