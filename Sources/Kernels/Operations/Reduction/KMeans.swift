import CKernels

/// The distances between colours that a search for the nearest one compares.
struct ColorMetric: Sendable {
  /// Whether distances are measured in CIE Lab instead of RGB.
  let isPerceptual: Bool

  /// Returns a position; distances between positions are distances of colours.
  func position(_ color: SIMD3<Double>) -> SIMD3<Double> {
    guard self.isPerceptual else { return color }
    let linear = SIMD3(
      ToneCurve.linearized(color.x), ToneCurve.linearized(color.y), ToneCurve.linearized(color.z))
    func curve(_ weights: SIMD3<Double>) -> Double {
      let t = (linear * weights).sum()
      return t > 0.008856452 ? cbrt(t) : t * 7.787037 + 0.13793103
    }
    // XYZ of sRGB's primaries, divided by its white.
    let x = curve([0.43394994, 0.37620977, 0.18984029])
    let y = curve([0.21267288, 0.71515213, 0.07217499])
    let z = curve([0.01775658, 0.10946796, 0.87277546])
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]
  }

  /// Returns the index of the nearest position, the least of equally near ones.
  func nearest(to position: SIMD3<Double>, in all: [SIMD3<Double>]) -> Int {
    var best = (index: 0, distance: Double.infinity)
    for (index, other) in all.enumerated() {
      let offset = other - position
      let distance = (offset * offset).sum()
      if distance < best.distance { best = (index, distance) }
    }
    return best.index
  }
}

/// The pixels of an area by cells of their colours, which are `side` per channel.
struct ColorCells: Sendable {
  /// The pixels of a cell or of a cluster of cells.
  struct Pixels: Sendable {
    /// Their number, the sums of red, green and blue times 2^20, and of columns and rows.
    private var sums = SIMD8<Double>.zero

    var isEmpty: Bool { self.sums[0] == 0 }
    /// The mean colour.
    var color: SIMD3<Double> {
      SIMD3(self.sums[1], self.sums[2], self.sums[3]) / self.sums[0] / 0x1p20
    }
    /// The mean of the pixels' centres.
    var center: SIMD2<Double> { SIMD2(self.sums[4], self.sums[5]) / self.sums[0] + 0.5 }

    mutating func add(_ color: SIMD4<Float>, x: Int, y: Int) {
      self.sums += [
        1, ExactSum.units(color.x), ExactSum.units(color.y), ExactSum.units(color.z), Double(x),
        Double(y), 0, 0,
      ]
    }

    static func += (total: inout Self, other: Self) { total.sums += other.sums }
  }

  private static let side = 32
  private var cells = Array(repeating: Pixels(), count: side * side * side)

  mutating func add(_ pixel: SIMD4<Float>, x: Int, y: Int) {
    func cell(_ value: Float) -> Int {
      Int(min(max(0, value) * Float(Self.side) + 0.002, Float(Self.side - 1)))
    }
    let index = (cell(pixel.x) * Self.side + cell(pixel.y)) * Self.side + cell(pixel.z)
    self.cells[index].add(pixel, x: x, y: y)
  }

  mutating func merge(_ other: Self) {
    for index in self.cells.indices { self.cells[index] += other.cells[index] }
  }

  var filled: [Pixels] { self.cells.filter { !$0.isEmpty } }

  /// Returns the pixels of the cells by the nearest colour.
  static func clusters(
    of cells: [Pixels], around colors: [SIMD3<Double>], _ metric: ColorMetric
  ) -> [Pixels] {
    let centers = colors.map { metric.position($0) }
    var clusters = Array(repeating: Pixels(), count: colors.count)
    for cell in cells {
      clusters[metric.nearest(to: metric.position(cell.color), in: centers)] += cell
    }
    return clusters
  }
}

/// The means of clusters of colours, as columns of the frame.
private struct ColorClusters: PixelReduction {
  let count: Int
  let passes: Int
  let metric: ColorMetric

  struct Measurement: Sendable {
    var cells = ColorCells()
    var means: [SIMD3<Double>] = []
  }

  func measurement(of size: FrameSize) -> Measurement { Measurement() }

  func add(_ pixel: SIMD4<Float>, x: Int, y: Int, to measurement: inout Measurement) {
    measurement.cells.add(pixel, x: x, y: y)
  }

  func merge(_ other: Measurement, into measurement: inout Measurement) {
    measurement.cells.merge(other.cells)
  }

  func finish(_ measurement: inout Measurement) {
    var means = (0 ..< self.count).map { index in
      SIMD3<Double>(repeating: (Double(index) + 0.5) / Double(self.count))
    }
    let cells = measurement.cells.filled
    for _ in 0 ..< self.passes {
      let clusters = ColorCells.clusters(of: cells, around: means, self.metric)
      for (index, cluster) in clusters.enumerated() where !cluster.isEmpty {
        means[index] = cluster.color
      }
    }
    measurement.means = means
  }

  func pixel(
    _ own: SIMD4<Float>, x: Int, y: Int, of size: FrameSize, in measurement: Measurement
  ) -> SIMD4<Float> {
    SIMD4(SIMD3<Float>(measurement.means[x * self.count / size.width]), 1)
  }
}

/// The places of a palette's colours, as columns of the frame.
private struct PalettePlaces: PixelReduction {
  let colors: [SIMD3<Double>]
  let metric: ColorMetric

  struct Measurement: Sendable {
    let size: FrameSize
    var cells = ColorCells()
    var places: [SIMD2<Double>] = []
  }

  func measurement(of size: FrameSize) -> Measurement { Measurement(size: size) }

  func add(_ pixel: SIMD4<Float>, x: Int, y: Int, to measurement: inout Measurement) {
    measurement.cells.add(pixel, x: x, y: y)
  }

  func merge(_ other: Measurement, into measurement: inout Measurement) {
    measurement.cells.merge(other.cells)
  }

  func finish(_ measurement: inout Measurement) {
    let size = SIMD2(Double(measurement.size.width), Double(measurement.size.height))
    let clusters = ColorCells.clusters(
      of: measurement.cells.filled, around: self.colors, self.metric)
    measurement.places = clusters.map { $0.isEmpty ? .zero : $0.center / size }
  }

  func pixel(
    _ own: SIMD4<Float>, x: Int, y: Int, of size: FrameSize, in measurement: Measurement
  ) -> SIMD4<Float> {
    let place = SIMD2<Float>(measurement.places[x * self.colors.count / size.width])
    return [place.x, place.y, 0, 1]
  }
}

extension ParameterDescription {
  static let perceptual = ParameterDescription(
    "perceptual", .flag, default: .flag(false),
    "Whether distances are measured in CIE Lab instead of RGB.")
}

/// The most typical colours of an area.
struct KMeans: ArgumentFilter {
  static let description = FilterDescription.area(
    "kMeans", "Shows the typical colours of an area as columns: the means of clusters.",
    formula: """
      Column x shows the mean floor(x count / width). The means begin at (i + .5) / count in every \
      channel; in each pass, a mean becomes the mean of the pixels that it is nearest to (Lloyd 1957), \
      and stays without any. Pixels are premultiplied, and those of the same cell \
      floor(32 c + .002) of each channel, at most 31, count as their mean. Opaque
      """,
    and: [
      ParameterDescription(
        "count", .number, default: .number(8), slider: 1 ... 32, limits: 1 ... 128,
        "The whole number of means."),
      ParameterDescription(
        "passes", .number, default: .number(5), slider: 0 ... 20, limits: 0 ... 20,
        "The whole number of passes."),
      .perceptual,
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let clusters = ColorClusters(
      count: Int(self.arguments.number("count").rounded()),
      passes: Int(self.arguments.number("passes").rounded()),
      metric: ColorMetric(isPerceptual: self.arguments.flag("perceptual")))
    return [.reduction(clusters, of: self.arguments, "the means of clusters", for: geometry)]
  }
}

/// The places of the colours of a palette.
struct PaletteCentroid: ArgumentFilter {
  static let description = FilterDescription(
    name: "paletteCentroid",
    summary: "Shows where the colours of a palette image are, as columns.",
    category: .reduction, reach: .frame, fidelity: .modelled, isCoreImage: true,
    keywords: "statistics position center track",
    examples: ["paletteCentroid(paletteImage: picture.png)"],
    formula: """
      Column x shows the colour floor(x count / width) of the palette, which is the image reduced to \
      count pixels: as red and green, the mean of the centres of the pixels that it is nearest to, \
      divided by width and height; black without any. Pixels of a cell of kMeans count as their mean. \
      Opaque
      """,
    parameters: [
      .image("paletteImage", "The name of the image with the colours."),
      ParameterDescription(
        "count", .number, default: .number(8), slider: 1 ... 8, limits: 1 ... 256,
        "The whole number of colours, from left to right."),
      .perceptual,
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let size = FrameSize(width: Int(self.arguments.number("count").rounded()), height: 1)
    let image = self.arguments.image("paletteImage")?.placed(
      x: 0, y: 0, width: Double(size.width), height: 1, fit: .stretch, in: size, .sRGBGamma)
    guard let image else { return [] }
    let colors = (0 ..< size.width).map { index in
      let pixel = image.pixel(index, 0)
      return SIMD3(pixel.x, pixel.y, pixel.z)
    }
    let metric = ColorMetric(isPerceptual: self.arguments.flag("perceptual"))
    let places = PalettePlaces(colors: colors, metric: metric)
    return [.reduction(places, "the places of a palette's colours", for: geometry)]
  }
}
