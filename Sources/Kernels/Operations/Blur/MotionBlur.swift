import CKernels

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The mean along a line through a pixel.
struct MotionBlur: CatalogueFilter {
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

  private let radius: Length
  private let angle: Double
  private let border: Border

  init(_ arguments: Arguments) {
    self.radius = arguments.length("radius")
    self.angle = arguments.number("angle")
    self.border = Border(arguments)
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let radius = min(self.radius.pixels(in: geometry.size), 1024)
    guard radius > 0 else { return [] }
    return self.border.nodes(for: geometry) { _, _ in
      [FilterNode(.neighborhood(LineBlurOperation(radius: radius, angle: self.angle)))]
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

  package var sumsPixels: Bool { true }

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
