import CKernels

/// The mean along a ray from a pixel to a centre.
struct ZoomBlur: ArgumentFilter {
  static let description = FilterDescription(
    name: "zoomBlur",
    summary: "Blurs along rays to a point, like a zooming camera.",
    category: .blur, reach: .neighborhood, fidelity: .modelled, isCoreImage: true,
    keywords: "speed",
    examples: ["zoomBlur(amount: 20)"],
    formula: """
      The mean of 64 points of the ray to the center, at center + (p - center) s t, \
      s = 1 - a (i + 1/2) / 64, t = 1 - a k / 8, i, k = 0 ..< 8, a = amount / 100: first over s, \
      then over t. The center is not blurred. Bilinear. border sets the pixels beyond the edges. \
      Colour is premultiplied, and alpha is blurred too. amount 0 changes nothing
      """,
    parameters: [
      ParameterDescription("center", .point, default: .point(.center), "The end of the rays."),
      ParameterDescription(
        "amount", .number, default: .number(20), slider: -200 ... 200, limits: -400 ... 400,
        "The length of the ray in hundredths of the distance to the center; negative values point "
          + "away from it."),
      Border.parameter,
    ])

  let arguments: Arguments

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    let extent = self.arguments.number("amount") / 100
    guard extent != 0 else { return [] }
    let size = geometry.size
    let center = self.arguments.point("center").pixels(in: size)
    return Border(self.arguments).nodes(for: geometry) { left, top in
      let center = (x: center.x + Double(left), y: center.y + Double(top))
      return [FilterNode(.neighborhood(ZoomBlurOperation(center: center, extent: extent)))]
    }
  }
}

/// The mean along a ray from a pixel to a centre.
package struct ZoomBlurOperation: NeighborhoodOperation {
  /// The centre in pixels from the top left.
  package let center: (x: Double, y: Double)
  /// The length of the ray: 1 ends at the centre; negative values point away from it.
  package let extent: Double
  /// The number of points per stage; two stages give its square.
  package static let tapCount = 8

  /// The distances of both stages' points from the centre, as shares of the pixel's distance: the
  /// first stage covers an eighth of the ray, and the points of the second are an eighth of the ray
  /// apart.
  package var stages: [[Double]] {
    let (count, extent) = (Self.tapCount, self.extent)
    return [
      (0 ..< count).map { 1 - extent * (Double($0) + 0.5) / Double(count * count) },
      (0 ..< count).map { 1 - extent * Double($0) / Double(count) },
    ]
  }

  package var summary: String { "means of 64 points along rays to a centre, in two stages of 8" }

  package func makePass(_ setting: PassSetting) -> any Pass {
    ZoomBlurPass(setting: setting, operation: self)
  }
}

/// Means along rays to a centre, plane by plane and row by row: for one point of the rays, a row is
/// another row, resampled evenly.
package struct ZoomBlurPass: OperationPass {
  package let setting: PassSetting
  let operation: ZoomBlurOperation

  package func run(_ context: PassContext) async {
    let stages = self.operation.stages
    // Means of bytes are within the range of bytes, and the mean of eight reduces their rounding
    // errors.
    let between = Raster(
      layout: context.output.layout, depth: context.inputs[0].depth, pool: context.pool)
    await self.run(
      context.replacing(inputs: context.inputs, output: between), scales: stages[0])
    await self.run(
      context.replacing(inputs: [between], output: context.output), scales: stages[1])
  }

  private func run(_ context: PassContext, scales: [Double]) async {
    let source = context.inputs[0].view
    let center = self.operation.center
    for shape in PlaneShape.planes(source.format, source.size) {
      let writer = RowWriter(
        context, shape, fractionBits: source.depth == .eight ? 6 : 5,
        keepsAlpha: self.setting.keepsFourthChannel)
      let samples = Double(shape.samples * shape.height)
      let positions =
        source.depth == .eight
        ? ZoomBlurPositions(shape, scales: scales, center: center.x * shape.scale - 0.5) : nil
      let cost = positions == nil ? 0.1 : 0.05
      await context.bands.run(
        rows: shape.height, nanoseconds: samples * cost * Double(scales.count)
      ) { band in
        Self.run(band, source, shape, center, scales, positions, writer)
      }
    }
  }

  /// The number of samples that the C rows compute at once.
  private static let lanes = 32

  private static func run(
    _ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape,
    _ center: (x: Double, y: Double), _ scales: [Double], _ positions: ZoomBlurPositions?,
    _ writer: RowWriter
  ) {
    let rows = unsafe sl_rows_current().pointee
    let steps = scales.flatMap { scale in
      (0 ..< Self.lanes).map { lane in
        Int16((max(-1, min(1, scale)) * Double(lane / shape.step) * 1024).rounded())
      }
    }
    let centerX = center.x * shape.scale - 0.5
    let centerY = center.y * shape.scale - 0.5
    let memory = SampleMemory(count: shape.samples + 64)
    let result = unsafe memory[0]
    unsafe steps.withUnsafeBufferPointer { steps in
      unsafe withUnsafeTemporaryAllocation(of: sl_zoom_tap.self, capacity: scales.count) { taps in
        for y in band {
          for (index, scale) in scales.enumerated() {
            let position = centerY + (Double(y) - centerY) * scale
            let row = min(max(position, 0), Double(shape.height - 1))
            let upper = Int(row)
            let lower = min(upper + 1, shape.height - 1)
            unsafe taps.initializeElement(
              at: index,
              to: sl_zoom_tap(
                upper: source.row(upper, plane: shape.plane),
                lower: source.row(lower, plane: shape.plane), scale: Float(scale),
                offset: Float(centerX * (1 - scale)),
                down: Int16(((row - Double(upper)) * 32767).rounded()),
                lanes: steps.baseAddress.unsafelyUnwrapped + index * Self.lanes))
          }
          let start = unsafe UnsafePointer(taps.baseAddress.unsafelyUnwrapped)
          switch source.depth {
          case .eight:
            unsafe rows.zoom_blur_u8(
              start, scales.count, shape.step, shape.width, positions?.pointers, result)
          case .deep:
            unsafe rows.zoom_blur_i16(start, scales.count, shape.step, shape.width, result)
          }
          unsafe writer.write(result, y: y, rows)
        }
      }
    }
  }
}

/// The positions at which the pixels of a row are read along rays, the same for all rows of a
/// plane.
@safe
final class ZoomBlurPositions: @unchecked Sendable {
  /// The positions in the form that the C rows use. Not written after `init`.
  let pointers: UnsafeMutablePointer<sl_zoom_positions>

  /// Computes the positions, if the C rows use them.
  ///
  /// - Parameters:
  ///   - scales: The distance of every tap from the centre, as a share of the pixel's distance.
  ///   - center: The centre's column.
  /// - Returns: `nil` if the C rows do not use positions for this plane.
  init?(_ shape: PlaneShape, scales: [Double], center: Double) {
    let rows = unsafe sl_rows_current().pointee
    let block = unsafe rows.zoom_block
    guard
      block > 0, shape.step == 4, shape.width > block, scales.allSatisfy({ abs($0) <= 1 })
    else { return nil }
    let runs = (shape.width + block - 1) / block * scales.count
    unsafe self.pointers = .allocate(capacity: 1)
    unsafe self.pointers.initialize(
      to: sl_zoom_positions(
        first: .allocate(capacity: runs), pixels: .allocate(capacity: runs * block))
    )
    unsafe rows.zoom_blur_positions(
      scales.map(Float.init), scales.count, Float(center), shape.width, self.pointers.pointee)
  }

  deinit {
    unsafe self.pointers.pointee.first.deallocate()
    unsafe self.pointers.pointee.pixels.deallocate()
    unsafe self.pointers.deallocate()
  }
}
