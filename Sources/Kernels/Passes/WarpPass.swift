import CKernels

/// Each sample from another place of its plane, in tiles, so that what is read stays near.
struct WarpPass: Pass {
  let description: PassDescription
  private let map: WarpOperation.Map
  private let keepsFourthChannel: Bool
  private let black: [[Int16]]

  /// Columns and rows of a tile.
  private static let tile = (width: 128, height: 32)

  init(_ setting: PassSetting, _ map: WarpOperation.Map) {
    self.description = setting.description
    self.map = map
    self.keepsFourthChannel = setting.keepsFourthChannel
    self.black = EmptyColor.samples(setting.geometry)
  }

  func run(_ context: PassContext) async {
    for shape in PlaneShape.planes(context.output.format, context.output.size) {
      let map = self.map.row(scale: shape.scale)
      let source = context.inputs[0].view
      let destination = context.output.view
      let unit: Int16 = destination.depth == .deep ? 32 : 1
      let empty = self.black[shape.plane].map { $0 * unit }
      let keepsFourth = self.keepsFourthChannel
      let rows = (shape.height + Self.tile.height - 1) / Self.tile.height
      await context.bands.run(
        rows: rows, nanoseconds: Double(shape.width * shape.height) * 3
      ) { band in
        let lower = band.lowerBound * Self.tile.height
        let upper = min(band.upperBound * Self.tile.height, shape.height)
        Self.run(lower ..< upper, source, destination, shape, map, empty, keepsFourth)
      }
    }
  }

  private static func run(
    _ band: Range<Int>, _ source: RasterView, _ destination: RasterView, _ shape: PlaneShape,
    _ map: sl_map, _ empty: [Int16], _ keepsFourth: Bool
  ) {
    let rows = unsafe sl_rows_current().pointee
    var map = map
    let memory = StripMemory(strips: 1)
    let strip = memory.strip(0, moment: FrameMoment())
    let plane = unsafe source.row(0, plane: shape.plane)
    let stride = shape.height > 1 ? unsafe source.row(1, plane: shape.plane) - plane : 0
    let scratch = SampleMemory(count: Self.tile.width * shape.step)
    let copiesAlpha = keepsFourth && shape.step == 4
    for top in Swift.stride(from: band.lowerBound, to: band.upperBound, by: Self.tile.height) {
      for x in Swift.stride(from: 0, to: shape.width, by: Self.tile.width) {
        let count = min(Self.tile.width, shape.width - x)
        for y in top ..< min(top + Self.tile.height, band.upperBound) {
          unsafe rows.map_row(
            &map, Float(x) + 0.5, Float(y) + 0.5, count, strip.red, strip.green)
          let offset = x * shape.step * destination.depth.byteCount
          let output = unsafe destination.row(y, plane: shape.plane) + offset
          let isSame = source.depth == destination.depth
          let target = unsafe isSame ? output : UnsafeMutableRawPointer(scratch[0])
          switch source.depth {
          case .eight:
            unsafe rows.sample_u8(
              plane, stride, shape.step, shape.width, shape.height, strip.red, strip.green,
              count, empty, target)
            if !isSame { unsafe rows.widen(target, count * shape.step, output) }
          case .deep:
            unsafe rows.sample_i16(
              plane, stride, shape.step, shape.width, shape.height, strip.red, strip.green,
              count, empty, target)
            if !isSame { unsafe rows.narrow_u8(scratch[0], 5, count * shape.step, output) }
          }
          guard copiesAlpha else { continue }
          let input =
            unsafe source.row(y, plane: shape.plane)
            + x * shape.step * source.depth.byteCount
          switch (source.depth, destination.depth) {
          case (.eight, .eight): unsafe rows.copy_alpha_u8(input, count, output)
          case (.deep, .deep): unsafe rows.copy_alpha_i16(input, count, output)
          case (.eight, .deep): unsafe rows.copy_alpha_u8_i16(input, count, output)
          case (.deep, .eight): unsafe rows.copy_alpha_i16_u8(input, count, output)
          }
        }
      }
    }
  }
}
