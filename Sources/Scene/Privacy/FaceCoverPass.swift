import SidelightKernels

/// Draws a ``FaceCoverage`` on frames. Without one it covers the whole frame, as after steps that
/// may have moved faces out of their regions. Regions grow by the distance to which earlier steps
/// may have spread them.
struct FaceCoverPass: OperationPass {
  let setting: PassSetting
  private let style: FacePrivacyFilter.Style
  private let strength: Double
  private let index: Int
  private let shapes: [PlaneShape]
  private let isStraight: Bool

  init(setting: PassSetting, style: FacePrivacyFilter.Style, strength: Double, index: Int) {
    self.setting = setting
    self.style = style
    self.strength = strength
    self.index = index
    self.shapes = PlaneShape.planes(setting.geometry.format, setting.geometry.size)
    self.isStraight = setting.geometry.alpha == .straight
  }

  /// All means are computed before the first sample is written.
  var worksInPlace: Bool { true }

  func run(_ context: PassContext) async {
    guard let spread = self.setting.spread,
      case .regions(let regions)? = context.scene?.drawing(
        of: self.index, as: FaceCoverage.self),
      let map = context.scene?.frameMap.inverse,
      [map.tx, map.ty].allSatisfy(\.isFinite), regions.allSatisfy(RegionGrid.accepts)
    else { return await self.coverFrame(context) }
    let distance = spread * (map.a * map.a + map.b * map.b).squareRoot()
    await self.cover(regions.map { $0.grown(by: distance) }, map, context)
  }

  private func cover(
    _ regions: [CoveredRegion], _ map: AffineMap, _ context: PassContext
  ) async {
    let (input, output) = (context.inputs[0], context.output)
    // Where regions overlap the coarser one is drawn, in any order.
    let covers = regions.sorted(by: CoveredRegion.isFiner(_:than:)).flatMap { region in
      self.shapes.compactMap { shape in
        RegionGrid(region, map, on: shape).map { RegionCover($0, isStraight: self.isStraight) }
      }
    }
    var drawings: [(cover: RegionCover, colors: CellColors)] = []
    for cover in covers {
      drawings.append((cover, await cover.colors(of: input, context.bands)))
    }
    if output.relation(to: input) != .same {
      for shape in self.shapes { await PlaneCopy(shape: shape).run(context) }
    }
    for (cover, colors) in drawings {
      await cover.draw(colors, self.style, on: output, context.bands)
    }
  }

  private func coverFrame(_ context: PassContext) async {
    let size = self.setting.geometry.size
    let sigma = FaceCoverage.wholeFrameSigma(
      height: self.displayedHeight(context.scene), strength: self.strength)
    for shape in self.shapes {
      await FrameCover(shape, of: size, sigma: sigma, isStraight: self.isStraight)
        .run(from: context.inputs[0], to: context.output, context)
    }
  }

  /// The height of the frame as displayed; without a scene, which knows it, the longer side.
  private func displayedHeight(_ scene: FrameScene?) -> Double {
    let size = self.setting.geometry.size
    guard let map = scene?.frameMap, map.inverse != nil else {
      return Double(max(size.width, size.height))
    }
    return Double(abs(map.b) > abs(map.a) ? size.width : size.height)
  }
}

extension CoveredRegion {
  /// The region with a margin.
  fileprivate func grown(by distance: Double) -> CoveredRegion {
    var region = self
    region.radiusX += distance
    region.radiusY += distance
    return region
  }

  /// Whether a region is drawn before another: that with the smaller cells first. An order of all
  /// regions that differ.
  static func isFiner(_ one: CoveredRegion, than other: CoveredRegion) -> Bool {
    let (left, right) = (one.order, other.order)
    return left.lexicographicallyPrecedes(right)
  }

  private var order: [Double] {
    [
      self.cell, self.radiusX * self.radiusY, self.center.x, self.center.y, self.radiusX, self.roll,
      self.shape == .ellipse ? 0 : 1,
    ]
  }
}
