import CKernels

/// The mean over a square around a pixel.
struct BoxBlur: ArgumentFilter {
  static let description = FilterDescription(
    name: "boxBlur",
    summary: "Blurs by the mean over a square.",
    category: .blur, reach: .neighborhood, fidelity: .formula, isCoreImage: true,
    keywords: "soft hide",
    examples: ["boxBlur(radius: 0.01875h)"],
    formula: """
      The mean over the square of side 2 radius + 1 around the pixel; pixels that it covers in \
      part count in part. border sets the pixels beyond the edges. Colour is premultiplied, and \
      alpha is blurred too. radius 0 changes nothing
      """,
    parameters: [
      ParameterDescription(
        "radius", .length, default: .number(10), slider: 1 ... 100, limits: 0 ... 1024,
        unit: .pixels, "The extent of the square beyond the pixel, on each side."),
      Border.parameter,
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let radius = min(self.arguments.length("radius").pixels(in: geometry.size), 1024)
    guard radius > 0 else { return [] }
    return Border(self.arguments).nodes(for: geometry) { _, _ in
      [FilterNode(.neighborhood(BoxBlurOperation(radius: radius)))]
    }
  }
}

/// The mean over a square around a pixel, applied as two one-dimensional means.
package struct BoxBlurOperation: NeighborhoodOperation {
  /// The extent of the square beyond the pixel on every side, in pixels; at least 0.
  package let radius: Double

  /// The extent on a plane, in its samples, for an extent in pixels of the frame.
  package static func reach(_ radius: Double, scale: Double) -> Double {
    max(0, ((2 * radius + 1) * scale - 1) / 2)
  }

  package var summary: String {
    "means over squares of \(2 * self.radius + 1) pixels, by running sums"
  }

  package func spread(in geometry: FrameGeometry) -> Double? {
    self.radius + ContentSpread.rounding
  }

  package func makePass(_ setting: PassSetting) -> any Pass {
    BoxBlurPass(setting: setting, horizontal: self.radius, vertical: self.radius)
  }
}

/// Means over boxes of every plane, computed by using sliding sums: first down the columns, then
/// along the rows.
///
/// A pixel that a box covers in part counts in part. The vertical mean is rounded to 1/64 level
/// (1/32 for deep pictures); the sums are exact.
package struct BoxBlurPass: OperationPass {
  package let setting: PassSetting
  /// The extent of boxes to the left and right, in pixels of the frame; 0 disables the pass along
  /// rows.
  let horizontal: Double
  /// The extent of boxes up and down, in pixels of the frame; 0 disables the pass down columns.
  let vertical: Double

  /// The maximum extent of a box in pixels for which shared chroma is filtered by using weights
  /// where boxes of chroma samples give another result. Results of larger boxes differ by less than
  /// two hundredths.
  private static let maxWeightedRadius = 64.0

  package func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    for shape in PlaneShape.planes(source.format, source.size) {
      let reach = (
        x: BoxBlurOperation.reach(self.horizontal, scale: shape.scale),
        y: BoxBlurOperation.reach(self.vertical, scale: shape.scale)
      )
      if self.needsWeights(shape, source.size) {
        await SymmetricPlane(
          shape, of: source.size, horizontal: Self.weights(self.horizontal),
          vertical: Self.weights(self.vertical), keepsAlpha: self.setting.keepsFourthChannel
        ).run(context)
        continue
      }
      guard reach.x > 0 || reach.y > 0 else {
        await PlaneCopy(shape: shape).run(context)
        continue
      }
      // In bytes only if the output has bytes too: samples between stages are not rounded to
      // levels.
      if source.depth == .eight, context.output.view.depth == .eight,
        let box = NarrowBox(reach: reach)
      {
        let writer = DirectRowWriter(context, shape, keepsAlpha: self.setting.keepsFourthChannel)
        await context.bands.run(
          rows: shape.height, nanoseconds: Double(shape.samples * shape.height) * 0.15
        ) { band in
          box.run(band, source, shape, writer)
        }
        continue
      }
      let writer = RowWriter(
        context, shape, fractionBits: source.depth == .eight ? 6 : 5,
        keepsAlpha: self.setting.keepsFourthChannel)
      await context.bands.run(
        rows: shape.height, nanoseconds: Double(shape.samples * shape.height) * 0.4
      ) { band in
        Self.run(band, source, shape, reach, writer)
      }
    }
  }

  /// Whether boxes of chroma samples differ from the frame's boxes for shared chroma: along odd
  /// sides, and where a box ends within a pixel that shares its chroma with the next pixel
  /// outwards.
  private func needsWeights(_ shape: PlaneShape, _ size: FrameSize) -> Bool {
    func differs(_ reach: Double, _ length: Int) -> Bool {
      guard reach > 0, reach <= Self.maxWeightedRadius else { return false }
      let endsWithinPixel = reach != reach.rounded(.down)
      return !length.isMultiple(of: 2) || (endsWithinPixel && Int(reach).isMultiple(of: 2))
    }
    return shape.scale < 1
      && (differs(self.horizontal, size.width) || differs(self.vertical, size.height))
  }

  /// The weights of a box at distances 0 and up.
  private static func weights(_ reach: Double) -> [Double] {
    let whole = Int(reach)
    let rest = reach - Double(whole)
    return Array(repeating: 1, count: whole + 1) + (rest > 0 ? [rest] : [])
  }

  private static func run(
    _ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape,
    _ reach: (x: Double, y: Double), _ writer: RowWriter
  ) {
    let rows = unsafe sl_rows_current().pointee
    let radius = Int(reach.y)
    let across = Int(reach.x)
    let fraction = (x: Float(reach.x - Double(across)), y: Float(reach.y - Double(radius)))
    let isEightBit = source.depth == .eight
    let slide = unsafe isEightBit ? rows.slide_sums_u8 : rows.slide_sums_i16
    let down = unsafe isEightBit ? rows.box_vertical_u8 : rows.box_vertical_i16
    let accumulate = unsafe isEightBit ? rows.accumulate_u8 : rows.accumulate_i16
    let scale = Float((isEightBit ? 64 : 1) / (2 * reach.y + 1))
    let margin = (across + 1) * shape.step
    let memory = SampleMemory(count: 4 * shape.samples + 2 * margin + 64)
    let sums = unsafe UnsafeMutableRawPointer(memory[0])
      .bindMemory(to: Int32.self, capacity: shape.samples)
    let column = unsafe memory[2 * shape.samples + margin]
    let result = unsafe memory[3 * shape.samples + 2 * margin]
    func row(_ y: Int) -> UnsafeMutableRawPointer {
      unsafe source.row(clamped: y, of: shape)
    }
    for y in band.lowerBound - radius ... band.lowerBound + radius {
      unsafe accumulate(row(y), shape.samples, sums)
    }
    for y in band {
      unsafe down(
        sums, row(y - radius - 1), row(y + radius + 1), fraction.y, scale, shape.samples, column)
      if reach.x > 0 {
        unsafe rows.replicate_edges(column, shape.step, shape.width, across + 1)
        unsafe rows.box_horizontal(column, shape.step, shape.width, across, fraction.x, result)
      }
      unsafe writer.write(reach.x > 0 ? result : column, y: y, rows)
      unsafe slide(row(y + radius + 1), row(y - radius), shape.samples, sums)
    }
  }
}

/// Means over boxes of bytes by using 16-bit sums, for boxes with sums that fit.
///
/// Vertical sums are exact. Their means keep as many fractional bits as the horizontal sums have
/// room for, at least two.
struct NarrowBox: Sendable {
  /// The extent of boxes along one axis, and the scale from their sums to means.
  private struct Axis: Sendable {
    let radius: Int
    let scale: sl_box_scale

    /// Creates an axis.
    ///
    /// - Parameters:
    ///   - reach: The extent to either side in samples, greater than 0; the fraction is the share
    ///     of the last sample.
    ///   - sampleBits: The fractional bits of the samples.
    ///   - bits: The fractional bits of the means.
    init(reach: Double, sampleBits: Int, bits: Int = 0) {
      let length = (2 * reach + 1) * Double(1 << sampleBits)
      // Sums use as many of their 16 bits as possible; the sum of two adjacent samples must fit
      // too.
      var shift = 0
      while length * Double(2 << shift) <= NarrowBox.capacity, shift + sampleBits < 7 { shift += 1 }
      self.radius = Int(reach)
      self.scale = sl_box_scale(
        shift: UInt16(shift),
        fraction: UInt16(min(65535, ((reach - reach.rounded(.down)) * 65536).rounded())),
        factor: UInt16(min(65535, (8_388_608 / (length * Double(1 << shift))).rounded())),
        bits: UInt16(bits))
    }
  }

  /// The number of bytes of value 255 with a sum that fits 16 bits.
  private static let capacity = 257.0

  private let horizontal: Axis?
  private let vertical: Axis?

  /// Creates the filter.
  ///
  /// - Parameter reach: The extent of boxes to either side, in samples; 0 disables a direction.
  /// - Returns: `nil` if the sums do not fit 16 bits.
  init?(reach: (x: Double, y: Double)) {
    let (width, height) = (2 * reach.x + 1, 2 * reach.y + 1)
    guard width <= Self.capacity, height <= Self.capacity else { return nil }
    guard reach.y > 0 else {
      self.vertical = nil
      self.horizontal = Axis(reach: reach.x, sampleBits: 0)
      return
    }
    guard reach.x > 0 else {
      self.vertical = Axis(reach: reach.y, sampleBits: 0)
      self.horizontal = nil
      return
    }
    guard let bits = (2 ... 6).last(where: { width * Double(1 << $0) <= Self.capacity }) else {
      return nil
    }
    self.vertical = Axis(reach: reach.y, sampleBits: 0, bits: bits)
    self.horizontal = Axis(reach: reach.x, sampleBits: bits)
  }

  /// Computes the rows of a band.
  func run(
    _ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape, _ writer: DirectRowWriter
  ) {
    let rows = unsafe sl_rows_current().pointee
    let margin = ((self.horizontal?.radius ?? 0) + 1) * shape.step
    // The sums of columns, a row of zeros, the means of columns with a margin, and a result.
    let memory = SampleMemory(count: 4 * shape.samples + 2 * margin + 64)
    let zeros = unsafe UnsafeRawPointer(memory[shape.samples])
    let means = unsafe memory[2 * shape.samples + margin]
    let scratch = unsafe memory[3 * shape.samples + 2 * margin]
    let sums = unsafe Self.sums(memory[0], shape)
    func row(_ y: Int) -> UnsafeRawPointer {
      unsafe UnsafeRawPointer(source.row(clamped: y, of: shape))
    }
    let radius = self.vertical?.radius ?? 0
    if var scale = self.vertical?.scale {
      for y in band.lowerBound - 1 - radius ... band.lowerBound - 1 + radius {
        var entering = unsafe sl_box_rows(entering: row(y), leaving: zeros, after: zeros)
        unsafe rows.box_vertical_narrow_u16(
          &entering, &scale, shape.samples, sums, Self.sums(means, shape))
      }
    }
    for y in band {
      unsafe writer.write(y: y, scratch: scratch, rows) { output in
        if var scale = self.vertical?.scale {
          var slid = unsafe sl_box_rows(
            entering: row(y + radius), leaving: row(y - radius - 1), after: row(y + radius + 1))
          guard self.horizontal != nil else {
            return unsafe rows.box_vertical_narrow_u8(
              &slid, &scale, shape.samples, sums,
              output.bindMemory(to: UInt8.self, capacity: shape.samples))
          }
          unsafe rows.box_vertical_narrow_u16(
            &slid, &scale, shape.samples, sums, Self.sums(means, shape))
        } else {
          unsafe rows.widen_u16(row(y), shape.samples, Self.sums(means, shape))
        }
        guard let across = self.horizontal else { return }
        var scale = across.scale
        unsafe rows.replicate_edges(means, shape.step, shape.width, across.radius + 1)
        unsafe rows.box_horizontal_narrow(
          Self.sums(means, shape), shape.step, shape.width, across.radius, &scale, output)
      }
    }
  }

  /// A row of 16-bit samples as a row of sums.
  private static func sums(
    _ samples: UnsafeMutablePointer<Int16>, _ shape: PlaneShape
  ) -> UnsafeMutablePointer<UInt16> {
    unsafe UnsafeMutableRawPointer(samples).assumingMemoryBound(to: UInt16.self)
  }
}
