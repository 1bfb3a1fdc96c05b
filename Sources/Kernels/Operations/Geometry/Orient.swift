import CKernels

/// Rotation by quarter turns, and mirroring.
struct Orient: ArgumentFilter {
  static let description = FilterDescription(
    name: "orient",
    summary: "Mirrors the picture and rotates it by quarter turns.",
    category: .geometry, reach: .frame, fidelity: .formula,
    keywords: "flip turn upside selfie",
    examples: ["orient(mirrored: true)", "orient(quarterTurns: 1, mirrored: true)"],
    formula: """
      The pixels are first mirrored, then rotated. Four quarter turns, or mirroring twice, change \
      nothing. The frame's orientation field does not change
      """,
    parameters: [
      ParameterDescription(
        "quarterTurns", .number, default: .number(0), slider: 0 ... 3, limits: -1000 ... 1000,
        "Clockwise quarter turns, a whole number; negative values turn counterclockwise."),
      ParameterDescription(
        "mirrored", .flag, default: .flag(false),
        "Whether left and right are exchanged before the rotation."),
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let turns = Int(self.arguments.number("quarterTurns").rounded()) % 4
    let orientation = Orientation(
      quarterTurns: turns < 0 ? turns + 4 : turns, isMirrored: self.arguments.flag("mirrored"))
    return orientation == .upright ? [] : [.orient(orientation)]
  }
}

/// Rotation of pixels by quarter turns, and mirroring. Planes are rotated sample by sample, without
/// loss: in frames with an odd side, 4:2:0 chroma moves by half a pixel.
package struct OrientOperation: NeighborhoodOperation {
  /// The orientation: first mirrored, then rotated clockwise.
  package let orientation: Orientation

  package var kind: PassDescription.Kind { .warp }
  package var mixesPixels: Bool { false }

  package var summary: String {
    [
      self.orientation.isMirrored ? "left and right exchanged" : nil,
      self.orientation.quarterTurns > 0
        ? "rotated clockwise by \(self.orientation.quarterTurns * 90) degrees" : nil,
    ].compactMap(\.self).joined(separator: ", then ")
  }

  package func output(for geometry: FrameGeometry) -> FrameGeometry {
    guard !self.orientation.quarterTurns.isMultiple(of: 2) else { return geometry }
    return FrameGeometry(
      format: geometry.format,
      size: FrameSize(width: geometry.size.height, height: geometry.size.width),
      color: geometry.color)
  }

  package func makePass(_ setting: PassSetting) -> any Pass {
    OrientPass(
      description: setting.description, operation: self,
      keepsFourthChannel: setting.keepsFourthChannel
        && self.output(for: setting.geometry).size == setting.geometry.size)
  }

  /// The position in a plane of the given size from which a position of the result is read.
  package func source(x: Int, y: Int, width: Int, height: Int) -> (x: Int, y: Int) {
    let turned =
      switch self.orientation.quarterTurns {
      case 1: (x: y, y: height - 1 - x)
      case 2: (x: width - 1 - x, y: height - 1 - y)
      case 3: (x: width - 1 - y, y: x)
      default: (x: x, y: y)
      }
    return self.orientation.isMirrored ? (width - 1 - turned.x, turned.y) : turned
  }
}

/// Rotation and mirroring of every plane, in tiles: where rows become columns, the source of a
/// whole row is spread over the frame.
package struct OrientPass: Pass {
  package let description: PassDescription
  let operation: OrientOperation
  let keepsFourthChannel: Bool

  /// The pixels of a tile. Tiles are long where rows stay rows.
  private var tile: (width: Int, height: Int) {
    self.operation.orientation.quarterTurns.isMultiple(of: 2) ? (2048, 4) : (32, 32)
  }

  package func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    let destination = context.output.view
    let inputs = PlaneShape.planes(source.format, source.size)
    let outputs = PlaneShape.planes(context.output.format, context.output.size)
    for (input, output) in zip(inputs, outputs) {
      let writer = RowWriter(
        context, output, fractionBits: 5, keepsAlpha: self.keepsFourthChannel)
      let cost = Double(output.samples * output.height) * 0.1
      await context.bands.run(
        rows: output.height, alignment: self.tile.height, nanoseconds: cost
      ) { band in
        self.run(band, source, input, destination, output, writer)
      }
    }
  }

  private func run(
    _ band: Range<Int>, _ source: RasterView, _ input: PlaneShape, _ destination: RasterView,
    _ output: PlaneShape, _ writer: RowWriter
  ) {
    let rows = unsafe sl_rows_current().pointee
    let size = input.step * source.depth.byteCount
    let stride = source.stride(plane: input.plane)
    // The distances in the source between horizontal and vertical neighbours of the result.
    let origin = self.position(0, 0, input)
    let (right, below) = (self.position(1, 0, input), self.position(0, 1, input))
    let column = (right.y - origin.y) * stride + (right.x - origin.x) * size
    let row = (below.y - origin.y) * stride + (below.x - origin.x) * size
    let isSame = source.depth == destination.depth
    let tile = self.tile
    let scratchStride = tile.width * size
    let scratch = SampleMemory(count: isSame ? 0 : tile.width * tile.height * output.step)
    for top in Swift.stride(from: band.lowerBound, to: band.upperBound, by: tile.height) {
      let height = min(tile.height, band.upperBound - top)
      for left in Swift.stride(from: 0, to: output.width, by: tile.width) {
        let width = min(tile.width, output.width - left)
        let first = self.position(left, top, input)
        let start = unsafe source.row(first.y, plane: input.plane) + first.x * size
        func result(_ y: Int) -> UnsafeMutableRawPointer {
          unsafe destination.row(y, plane: output.plane)
            + left * output.step * destination.depth.byteCount
        }
        guard !isSame else {
          unsafe rows.rotate(
            start, column, row, size, width, height, result(top),
            destination.stride(plane: output.plane))
          continue
        }
        unsafe rows.rotate(
          start, column, row, size, width, height, UnsafeMutableRawPointer(scratch[0]),
          scratchStride)
        for y in 0 ..< height {
          let turned = unsafe UnsafeMutableRawPointer(scratch[0]) + y * scratchStride
          let samples = width * output.step
          switch destination.depth {
          case .deep: unsafe rows.widen(turned, samples, result(top + y))
          case .eight:
            unsafe rows.narrow_u8(
              turned.assumingMemoryBound(to: Int16.self), 5, samples, result(top + y))
          }
        }
      }
      for y in top ..< top + height { unsafe writer.copyAlpha(y: y, rows) }
    }
  }

  private func position(_ x: Int, _ y: Int, _ input: PlaneShape) -> (x: Int, y: Int) {
    self.operation.source(x: x, y: y, width: input.width, height: input.height)
  }
}

extension FilterNode {
  /// Rotates and mirrors the pixels. The frame's own orientation does not change.
  package static func orient(_ orientation: Orientation) -> FilterNode {
    FilterNode(.neighborhood(OrientOperation(orientation: orientation)))
  }
}
