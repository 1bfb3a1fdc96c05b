import CKernels

/// The mean along a line through a pixel.
struct MotionBlur: ArgumentFilter {
  static let description = FilterDescription(
    name: "motionBlur",
    summary: "Blurs along a line, like a moving camera.",
    category: .blur, reach: .neighborhood, fidelity: .formula, isCoreImage: true,
    keywords: "speed",
    examples: ["motionBlur(radius: 0.0375h, angle: 0.5)"],
    formula: """
      The mean along the line of length 2 radius + 1 through the pixel: one sample for each whole \
      step along its greater extent, interpolated between the two pixels across it; the ends count \
      in part. border sets the pixels beyond the edges. Colour is premultiplied, and alpha is \
      blurred too. radius 0 changes nothing
      """,
    parameters: [
      ParameterDescription(
        "radius", .length, default: .number(20), slider: 0 ... 100, limits: 0 ... 1024,
        unit: .pixels, "The extent of the line beyond the pixel, on each side."),
      ParameterDescription(
        "angle", .number, default: .number(0), slider: -3.141592653589793 ... 3.141592653589793,
        limits: -1000 ... 1000, unit: .radians,
        "The line's angle to the horizontal, counterclockwise."),
      Border.parameter,
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let radius = min(self.arguments.length("radius").pixels(in: geometry.size), 1024)
    guard radius > 0 else { return [] }
    let line = LineBlurOperation(radius: radius, angle: self.arguments.number("angle"))
    return Border(self.arguments).nodes(for: geometry) { _, _ in
      [FilterNode(.neighborhood(line))]
    }
  }
}

/// The mean along a line through a pixel.
package struct LineBlurOperation: NeighborhoodOperation {
  /// The extent of the line beyond the pixel on either side, in pixels; at least 0.
  package let radius: Double
  /// The line's angle to the horizontal in radians, counterclockwise on the display.
  package let angle: Double

  /// The line in pixels of the frame.
  package var line: LineTaps {
    // Rows count downwards.
    LineTaps(length: 2 * self.radius + 1, cosine: cos(self.angle), sine: -sin(self.angle))
  }

  package var summary: String { "means along a line of \(2 * self.radius + 1) pixels" }

  package func spread(in geometry: FrameGeometry) -> Double? {
    self.radius + ContentSpread.rounding
  }

  package func makePass(_ setting: PassSetting) -> any Pass {
    // Horizontal and vertical lines are boxes. Their means slide instead of summing every pixel of
    // the line.
    if abs(sin(self.angle)) < 1e-9 {
      return BoxBlurPass(setting: setting, horizontal: self.radius, vertical: 0)
    }
    if abs(cos(self.angle)) < 1e-9 {
      return BoxBlurPass(setting: setting, horizontal: 0, vertical: self.radius)
    }
    return LineBlurPass(setting, self)
  }
}

/// Means along a line in every plane, as weighted sums of shifted rows.
package struct LineBlurPass: OperationPass {
  /// The sums of one plane.
  private struct PlaneLine: Sendable {
    let shape: PlaneShape
    /// The kernels of all rows except, for odd heights, the last.
    let inner: [LineKernel]
    /// The kernels of the last row.
    let last: [LineKernel]

    /// A row has a kernel for its pixels and, if it differs, a kernel for its last pixel.
    init(_ shape: PlaneShape, _ line: LineTaps, of size: FrameSize) {
      self.shape = shape
      let whole = LineKernel(line)
      guard shape.scale < 1 else {
        self.inner = [whole]
        self.last = [whole]
        return
      }
      let (isWideOdd, isHighOdd) = (
        !size.width.isMultiple(of: 2), !size.height.isMultiple(of: 2)
      )
      func sums(isLastRow: Bool) -> [LineKernel] {
        (isWideOdd ? [false, true] : [false]).map {
          whole.onSharedChroma(isLastColumn: $0, isLastRow: isLastRow)
        }
      }
      self.inner = sums(isLastRow: false)
      self.last = sums(isLastRow: isHighOdd)
    }
  }

  package let setting: PassSetting
  private let planes: [PlaneLine]
  private let isIdentity: Bool

  init(_ setting: PassSetting, _ operation: LineBlurOperation) {
    let (line, size) = (operation.line, setting.geometry.size)
    self.setting = setting
    self.isIdentity = line.taps.count <= 1
    self.planes = PlaneShape.planes(setting.geometry.format, size).map {
      PlaneLine($0, line, of: size)
    }
  }

  package func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    for plane in self.planes {
      guard !self.isIdentity else {
        await PlaneCopy(shape: plane.shape).run(context)
        continue
      }
      let writer = RowWriter(
        context, plane.shape, fractionBits: source.depth == .eight ? 6 : 5,
        keepsAlpha: self.setting.keepsFourthChannel)
      let samples = Double(plane.shape.samples * plane.shape.height)
      let end = plane.shape.height - 1
      await context.bands.run(
        rows: plane.shape.height, nanoseconds: samples * 0.02 * Double(plane.inner[0].pairs.count)
      ) { band in
        let inner = band.lowerBound ..< max(band.lowerBound, min(band.upperBound, end))
        Self.run(inner, source, plane.shape, plane.inner, writer)
        if band.contains(end) { Self.run(end ..< end + 1, source, plane.shape, plane.last, writer) }
      }
    }
  }

  private static func run(
    _ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape, _ kernels: [LineKernel],
    _ writer: RowWriter
  ) {
    guard !band.isEmpty else { return }
    let rows = unsafe sl_rows_current().pointee
    let fine = unsafe source.depth == .eight ? rows.line_mean_fine_u8 : rows.line_mean_fine_i16
    let pixelBytes = shape.step * source.depth.byteCount
    let weights = kernels.map {
      LineWeights($0, allowsCoarse: source.depth == .eight && shape.scale == 1)
    }
    let reach = kernels.reduce(0) { max($0, $1.reach) }
    let margin = kernels.reduce(0) { max($0, $1.margin) }
    var padded = PaddedRows(source, shape, capacity: 2 * reach + 1, margin: margin)
    let memory = SampleMemory(count: shape.samples + 64)
    let result = unsafe memory[0]
    let capacity = kernels.reduce(0) { max($0, $1.pairs.count) }
    unsafe withUnsafeTemporaryAllocation(of: sl_line_tap.self, capacity: capacity) { taps in
      for y in band {
        for (number, kernel) in kernels.enumerated() {
          let start = number == 0 ? 0 : shape.width - 1
          for (index, pair) in kernel.pairs.enumerated() {
            let (first, second) = (pair.first, pair.second)
            let values = weights[number].pairs[index]
            unsafe taps.initializeElement(
              at: index,
              to: sl_line_tap(
                first: padded.row(y + first.y) + (start + first.x) * pixelBytes,
                second: padded.row(y + second.y) + (start + second.x) * pixelBytes,
                first_weight: values.first, second_weight: values.second))
          }
          let list = unsafe UnsafePointer(taps.baseAddress.unsafelyUnwrapped)
          let count = (shape.width - start) * shape.step
          let output = unsafe result + start * shape.step
          if let group = weights[number].group {
            unsafe rows.line_mean_coarse_u8(
              list, kernel.pairs.count, group, weights[number].scale, count, output)
          } else {
            unsafe fine(list, kernel.pairs.count, weights[number].scale, count, output)
          }
        }
        unsafe writer.write(result, y: y, rows)
      }
    }
  }
}

/// The pixels along a line through the origin, as weighted pairs of neighbours.
///
/// The line has a tap per whole step along its greater extent. Across the line, a tap is between
/// two pixels and interpolates them.
package struct LineTaps: Sendable {
  /// One step along the line.
  package struct Tap: Sendable, Hashable {
    /// The left or upper pixel of the pair.
    package let x: Int
    package let y: Int
    /// The weight of the other pixel, 0 ..< 1.
    package let fraction: Double
    /// The share of the step that the line covers, greater than 0 and at most 1.
    package let weight: Double
  }

  /// The steps, from one end to the other.
  package let taps: [Tap]
  /// Whether pairs are vertical neighbours; otherwise they are horizontal neighbours.
  package let isFlat: Bool

  /// Creates the taps of a line.
  ///
  /// - Parameters:
  ///   - length: The line's length, in pixels.
  ///   - cosine: The line's direction to the right.
  ///   - sine: The line's direction downwards.
  package init(length: Double, cosine: Double, sine: Double) {
    self.isFlat = abs(cosine) >= abs(sine)
    let major = self.isFlat ? cosine : sine
    let slope = (self.isFlat ? sine : cosine) / major
    let half = length * abs(major) / 2
    let steps = max(0, Int((half - 0.5).rounded(.up)))
    var taps: [Tap] = []
    for step in -steps ... steps {
      let weight = steps == 0 ? 1 : min(1, half + 0.5 - Double(abs(step)))
      let across = Double(step) * slope
      // Positions within rounding errors of a pixel count as that pixel.
      let nearest = across.rounded()
      let position = abs(across - nearest) < 1e-9 ? nearest : across
      let floor = position.rounded(.down)
      taps.append(
        Tap(
          x: self.isFlat ? step : Int(floor), y: self.isFlat ? Int(floor) : step,
          fraction: position - floor, weight: weight))
    }
    self.taps = taps
  }
}

/// A weighted sum of pixels, in pairs, in the form that the C rows use.
struct LineKernel: Sendable {
  /// Two pixels given as offsets from the computed pixel, with weights of at least 0 and a sum of
  /// at most 1.
  struct Pair: Sendable {
    let first: (x: Int, y: Int)
    let second: (x: Int, y: Int)
    let weights: (first: Double, second: Double)
  }

  /// The pixels; at least one pair.
  let pairs: [Pair]

  /// The maximum horizontal offset.
  var margin: Int { self.pairs.reduce(1) { max($0, abs($1.first.x), abs($1.second.x)) } }
  /// The maximum vertical offset.
  var reach: Int { self.pairs.reduce(1) { max($0, abs($1.first.y), abs($1.second.y)) } }

  init(_ line: LineTaps) {
    let (right, down) = line.isFlat ? (0, 1) : (1, 0)
    self.pairs = line.taps.map { tap in
      Pair(
        first: (tap.x, tap.y), second: (tap.x + right, tap.y + down),
        weights: (tap.weight * (1 - tap.fraction), tap.weight * tap.fraction))
    }
  }

  /// Returns the kernel for chroma that 2x2 pixels share. A sample counts for all of its pixels,
  /// and a result is the mean of its pixels' results. The last sample along an odd side belongs to
  /// one column or row of pixels.
  func onSharedChroma(isLastColumn: Bool, isLastRow: Bool) -> LineKernel {
    struct Offset: Hashable {
      let x, y: Int
    }
    let halves = (x: isLastColumn ? 0 ... 0 : 0 ... 1, y: isLastRow ? 0 ... 0 : 0 ... 1)
    var sums: [Offset: Double] = [:]
    func add(_ pixel: (x: Int, y: Int), _ weight: Double) {
      guard weight > 0 else { return }
      for y in halves.y {
        for x in halves.x {
          sums[Offset(x: (pixel.x + x) >> 1, y: (pixel.y + y) >> 1), default: 0] += weight
        }
      }
    }
    for pair in self.pairs {
      add(pair.first, pair.weights.first)
      add(pair.second, pair.weights.second)
    }
    let cells = sums.sorted { ($0.key.y, $0.key.x) < ($1.key.y, $1.key.x) }
    let twos = stride(from: 0, to: cells.count, by: 2).map { index in
      (cells[index], index + 1 < cells.count ? cells[index + 1] : (key: cells[index].key, value: 0))
    }
    let maxSum = twos.reduce(0) { max($0, $1.0.value + $1.1.value) }
    return LineKernel(
      pairs: twos.map { first, second in
        Pair(
          first: (first.key.x, first.key.y), second: (second.key.x, second.key.y),
          weights: (first.value / maxSum, second.value / maxSum))
      })
  }

  private init(pairs: [Pair]) {
    self.pairs = pairs
  }
}

/// The weights of a line as integers for the C rows.
struct LineWeights: Sendable {
  /// The weights per pair.
  let pairs: [(first: Int16, second: Int16)]
  /// The number of pairs with a sum that fits 16 bits; `nil` if products need 32 bits.
  let group: Int?
  /// The reciprocal of the sum of all weights.
  let scale: Float

  /// A few pairs need precise weights. Many pairs have small weights, for which units of 1/32
  /// suffice: with units of 1/16, lines of 17 pairs through noise have errors of two levels in rare
  /// pixels.
  private static let minCoarsePairs = 17
  private static let coarseUnit = 32.0

  /// Creates integer weights.
  ///
  /// - Parameters:
  ///   - kernel: The pixels and their weights.
  ///   - allowsCoarse: Whether samples are bytes, and most weights are 1.
  init(_ kernel: LineKernel, allowsCoarse: Bool) {
    let isCoarse = allowsCoarse && kernel.pairs.count >= Self.minCoarsePairs
    let fineUnit = min(4096, (65535 / Double(kernel.pairs.count)).rounded(.down))
    let unit = isCoarse ? Self.coarseUnit : fineUnit
    self.group = isCoarse ? Int(256 / Self.coarseUnit) : nil
    self.pairs = kernel.pairs.map { pair in
      let (first, second) = pair.weights
      let both = (unit * (first + second)).rounded()
      let fraction = first + second > 0 ? second / (first + second) : 0
      let rounded = (both * fraction).rounded()
      return (Int16(both - rounded), Int16(rounded))
    }
    self.scale = 1 / Float(self.pairs.reduce(0) { $0 + Int($1.first) + Int($1.second) })
  }
}
