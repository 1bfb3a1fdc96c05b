import CKernels

/// Means along rays to a centre, plane by plane and row by row: at one point of the rays, a row is
/// another row, resampled evenly.
package struct RayBlurPass: Pass {
  package let description: PassDescription
  private let operation: RayBlurOperation
  private let keepsFourthChannel: Bool

  init(_ setting: PassSetting, _ operation: RayBlurOperation) {
    self.description = setting.description
    self.operation = operation
    self.keepsFourthChannel = setting.keepsFourthChannel
  }

  package func run(_ context: PassContext) async {
    let stages = self.operation.stages
    // Means of bytes are within their range, and the mean of several hides their rounding.
    let between = Raster(
      layout: context.output.layout, depth: context.inputs[0].depth, pool: context.pool)
    await self.run(
      PassContext(
        inputs: context.inputs, output: between, moment: context.moment, pool: context.pool,
        bands: context.bands), scales: stages[0])
    await self.run(
      PassContext(
        inputs: [between], output: context.output, moment: context.moment, pool: context.pool,
        bands: context.bands), scales: stages[1])
  }

  private func run(_ context: PassContext, scales: [Double]) async {
    let source = context.inputs[0].view
    let center = self.operation.center
    for shape in PlaneShape.planes(source.format, source.size) {
      let finish = RowFinish(
        context, shape, fractionBits: source.depth == .eight ? 6 : 5,
        keepsAlpha: self.keepsFourthChannel)
      let samples = Double(shape.samples * shape.height)
      let places =
        source.depth == .eight
        ? RayPlaces(shape, scales: scales, center: center.x * shape.scale - 0.5) : nil
      let cost = places == nil ? 0.1 : 0.05
      await context.bands.run(
        rows: shape.height, nanoseconds: samples * cost * Double(scales.count)
      ) { band in
        Self.run(band, source, shape, center, scales, places, finish)
      }
    }
  }

  /// Samples that rows in C make at once.
  private static let lanes = 32

  private static func run(
    _ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape,
    _ center: (x: Double, y: Double), _ scales: [Double], _ places: RayPlaces?,
    _ finish: RowFinish
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
            let place = centerY + (Double(y) - centerY) * scale
            let row = min(max(place, 0), Double(shape.height - 1))
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
              start, scales.count, shape.step, shape.width, places?.pointers, result)
          case .deep:
            unsafe rows.zoom_blur_i16(start, scales.count, shape.step, shape.width, result)
          }
          unsafe finish.write(result, y: y, rows)
        }
      }
    }
  }
}
