import CKernels

/// A mosaic of squares.
struct Pixellate: ArgumentFilter {
  static let description = FilterDescription(
    name: "pixellate",
    summary: "Maps the picture to coloured squares.",
    category: .stylize, reach: .neighborhood, fidelity: .formula, isCoreImage: true,
    keywords: "pixelate mosaic censor hide",
    examples: ["pixellate(scale: 0.0375h)"],
    formula: """
      Each pixel becomes the mean of its square, rounded to nearest; four squares meet at center. \
      Luma and chroma are averaged on their own planes; colour is premultiplied
      """,
    parameters: [
      ParameterDescription(
        "center", .point, default: .point(.center), "The corner of four squares."),
      ParameterDescription(
        "scale", .length, default: .number(8), slider: 1 ... 100, limits: 1 ... 16384,
        unit: .pixels, "A square's side; 1 changes nothing."),
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let size = geometry.size
    let scale = min(max(self.arguments.length("scale").pixels(in: size), 1), 16384)
    guard scale > 1 else { return [] }
    let center = self.arguments.point("center").pixels(in: size)
    return [.pixellate(center: center, scale: scale)]
  }
}

/// Means over squares of a grid.
package struct PixellateOperation: NeighborhoodOperation {
  /// The corner of four squares, in pixels from the top left.
  package let x: Double
  package let y: Double
  /// A square's side in pixels.
  package let scale: Double

  package var summary: String { "means over squares of \(self.scale) pixels" }

  package func spread(in geometry: FrameGeometry) -> Double? {
    self.scale * 2.0.squareRoot() + ContentSpread.rounding
  }

  package func makePass(_ setting: PassSetting) -> any Pass {
    PixellatePass(setting, self)
  }
}

/// Means over squares, plane by plane. A square has half the width on a chroma plane.
///
/// A sample belongs to the square that contains its centre. Means are rounded to nearest.
package struct PixellatePass: OperationPass {
  package let setting: PassSetting
  private let planes: [(shape: PlaneShape, columns: [Int], rows: [Int])]

  init(_ setting: PassSetting, _ operation: PixellateOperation) {
    self.setting = setting
    self.planes = PlaneShape.planes(setting.geometry.format, setting.geometry.size).map { shape in
      let scale = operation.scale * shape.scale
      return (
        shape,
        Self.edges(count: shape.width, origin: operation.x * shape.scale, scale: scale),
        Self.edges(count: shape.height, origin: operation.y * shape.scale, scale: scale)
      )
    }
  }

  /// The first samples of squares along an axis, and the number of samples.
  static func edges(count: Int, origin: Double, scale: Double) -> [Int] {
    var edges = [0]
    func square(_ sample: Int) -> Double {
      ((Double(sample) + 0.5 - origin) / scale).rounded(.down)
    }
    for sample in 1 ..< max(count, 1) where square(sample) != square(sample - 1) {
      edges.append(sample)
    }
    return edges + [count]
  }

  package func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    for (shape, columns, rows) in self.planes {
      let writer = RowWriter(
        context, shape, fractionBits: 5, keepsAlpha: self.setting.keepsFourthChannel)
      await context.bands.run(
        rows: rows.count - 1, nanoseconds: Double(shape.samples * shape.height) * 0.15
      ) { band in
        Self.run(band, source, shape, columns, rows, writer)
      }
    }
  }

  private static func run(
    _ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape, _ columns: [Int], _ rows: [Int],
    _ writer: RowWriter
  ) {
    let table = unsafe sl_rows_current().pointee
    let isDeep = source.depth == .deep
    let accumulate = unsafe isDeep ? table.accumulate_i16 : table.accumulate_u8
    let memory = SampleMemory(count: 3 * shape.samples)
    let means = unsafe memory[0]
    let sums = unsafe UnsafeMutableRawPointer(memory[shape.samples])
      .bindMemory(to: Int32.self, capacity: shape.samples)
    unsafe columns.withUnsafeBufferPointer { columns in
      for square in band {
        let height = rows[square] ..< rows[square + 1]
        unsafe sums.update(repeating: 0, count: shape.samples)
        for y in height {
          unsafe accumulate(source.row(y, plane: shape.plane), shape.samples, sums)
        }
        unsafe table.mean_blocks(
          sums, shape.step, columns.baseAddress.unsafelyUnwrapped, columns.count - 1,
          (isDeep ? 1 : 32) / Float(height.count), means)
        for y in height { unsafe writer.write(means, y: y, table) }
      }
    }
  }
}

extension FilterNode {
  /// Replaces squares of a grid by their mean colour.
  ///
  /// - Parameters:
  ///   - center: A corner that four squares share, in pixels from the top left.
  ///   - scale: A square's side in pixels; 1 or less disables the filter.
  package static func pixellate(center: (x: Double, y: Double), scale: Double) -> FilterNode {
    FilterNode(.neighborhood(PixellateOperation(x: center.x, y: center.y, scale: scale)))
  }
}
