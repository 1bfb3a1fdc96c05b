import CKernels

/// Means over boxes of each plane, by sums that slide: down the rows, and then along each.
///
/// A box that ends within a pixel takes that share of it. The result down the rows is rounded to
/// 1/64 level (1/32 for deep pictures); the sums themselves are exact.
package struct BoxBlurPass: Pass {
  package let description: PassDescription
  private let horizontal: Double
  private let vertical: Double
  private let keepsFourthChannel: Bool

  /// The greatest reach of a box in pixels whose chroma is filtered by weights where boxes of chroma
  /// are not the same. Those of larger boxes differ by less than two hundredths.
  private static let greatestWeighted = 64.0

  /// - Parameters:
  ///   - horizontal: How far boxes reach to both sides, in pixels of the frame; 0 for not at all.
  ///   - vertical: How far they reach up and down.
  init(_ setting: PassSetting, horizontal: Double, vertical: Double) {
    self.description = setting.description
    self.horizontal = horizontal
    self.vertical = vertical
    self.keepsFourthChannel = setting.keepsFourthChannel
  }

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
          vertical: Self.weights(self.vertical), keepsAlpha: self.keepsFourthChannel
        ).run(context)
        continue
      }
      guard reach.x > 0 || reach.y > 0 else {
        await PlaneCopy(shape: shape).run(context)
        continue
      }
      // Bytes only where they stay: nothing is rounded between stages.
      if source.depth == .eight, context.output.view.depth == .eight,
        let box = NarrowBox(reach: reach)
      {
        let finish = DirectFinish(context, shape, keepsAlpha: self.keepsFourthChannel)
        await context.bands.run(
          rows: shape.height, nanoseconds: Double(shape.samples * shape.height) * 0.15
        ) { band in
          box.run(band, source, shape, finish)
        }
        continue
      }
      let finish = RowFinish(
        context, shape, fractionBits: source.depth == .eight ? 6 : 5,
        keepsAlpha: self.keepsFourthChannel)
      await context.bands.run(
        rows: shape.height, nanoseconds: Double(shape.samples * shape.height) * 0.4
      ) { band in
        Self.run(band, source, shape, reach, finish)
      }
    }
  }

  /// Whether boxes of half the size are not what the frame's boxes are for shared chroma: along odd
  /// sides, and where they end within a pixel that shares its chroma with the next one outwards.
  private func needsWeights(_ shape: PlaneShape, _ size: FrameSize) -> Bool {
    func differs(_ reach: Double, _ length: Int) -> Bool {
      guard reach > 0, reach <= Self.greatestWeighted else { return false }
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
    _ reach: (x: Double, y: Double), _ finish: RowFinish
  ) {
    let rows = unsafe sl_rows_current().pointee
    let radius = Int(reach.y)
    let across = Int(reach.x)
    let fraction = (x: Float(reach.x - Double(across)), y: Float(reach.y - Double(radius)))
    let isNarrow = source.depth == .eight
    let slide = unsafe isNarrow ? rows.slide_sums_u8 : rows.slide_sums_i16
    let down = unsafe isNarrow ? rows.box_vertical_u8 : rows.box_vertical_i16
    let accumulate = unsafe isNarrow ? rows.accumulate_u8 : rows.accumulate_i16
    let scale = Float((isNarrow ? 64 : 1) / (2 * reach.y + 1))
    let margin = (across + 1) * shape.step
    let memory = SampleMemory(count: 4 * shape.samples + 2 * margin + 64)
    let sums = unsafe UnsafeMutableRawPointer(memory[0])
      .bindMemory(to: Int32.self, capacity: shape.samples)
    let column = unsafe memory[2 * shape.samples + margin]
    let result = unsafe memory[3 * shape.samples + 2 * margin]
    func row(_ y: Int) -> UnsafeMutableRawPointer {
      unsafe source.row(min(max(y, 0), shape.height - 1), plane: shape.plane)
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
      unsafe finish.write(reach.x > 0 ? result : column, y: y, rows)
      unsafe slide(row(y + radius + 1), row(y - radius), shape.samples, sums)
    }
  }
}
