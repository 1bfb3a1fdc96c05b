import CKernels

/// Means along a line, of each plane: shifted rows, weighted and added.
package struct LineBlurPass: Pass {
  /// The line on one plane.
  private struct PlaneLine: Sendable {
    let shape: PlaneShape
    let line: LineTaps
  }

  package let description: PassDescription
  private let planes: [PlaneLine]
  private let keepsFourthChannel: Bool

  init(_ setting: PassSetting, _ operation: LineBlurOperation) {
    self.description = setting.description
    self.keepsFourthChannel = setting.keepsFourthChannel
    self.planes = PlaneShape.planes(setting.geometry.format, setting.geometry.size).map { shape in
      PlaneLine(shape: shape, line: operation.line(scale: shape.scale))
    }
  }

  package func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    for plane in self.planes {
      guard plane.line.taps.count > 1 else {
        await PlaneCopy(shape: plane.shape).run(context)
        continue
      }
      let weights = LineWeights(plane.line, isNarrow: source.depth == .eight)
      let finish = RowFinish(
        context, plane.shape, fractionBits: source.depth == .eight ? 6 : 5,
        keepsAlpha: self.keepsFourthChannel)
      let samples = Double(plane.shape.samples * plane.shape.height)
      await context.bands.run(
        rows: plane.shape.height, nanoseconds: samples * 0.02 * Double(plane.line.taps.count)
      ) { band in
        Self.run(band, source, plane, weights, finish)
      }
    }
  }

  private static func run(
    _ band: Range<Int>, _ source: RasterView, _ plane: PlaneLine, _ weights: LineWeights,
    _ finish: RowFinish
  ) {
    let rows = unsafe sl_rows_current().pointee
    let area = unsafe sl_area_rows_current().pointee
    let (shape, line) = (plane.shape, plane.line)
    let fine = unsafe source.depth == .eight ? area.line_fine_u8 : area.line_fine_i16
    let sampleBytes = source.depth.byteCount
    var padded = PaddedRows(source, shape, capacity: 2 * line.reach + 1, margin: line.margin)
    let memory = SampleMemory(count: shape.samples + 64)
    let result = unsafe memory[0]
    let (right, down) = line.isFlat ? (0, 1) : (shape.step * sampleBytes, 0)
    unsafe withUnsafeTemporaryAllocation(of: sl_tap.self, capacity: line.taps.count) { taps in
      for y in band {
        for (index, tap) in line.taps.enumerated() {
          let shift = tap.x * shape.step * sampleBytes
          let first = unsafe padded.row(y + tap.y) + shift
          let second = unsafe padded.row(y + tap.y + down) + (shift + right)
          let pair = weights.pairs[index]
          unsafe taps.initializeElement(
            at: index,
            to: sl_tap(
              first: first, second: second, first_weight: pair.first, second_weight: pair.second))
        }
        let list = unsafe UnsafePointer(taps.baseAddress.unsafelyUnwrapped)
        if let group = weights.group {
          unsafe area.line_coarse_u8(
            list, line.taps.count, group, weights.scale, shape.samples, result)
        } else {
          unsafe fine(list, line.taps.count, weights.scale, shape.samples, result)
        }
        unsafe finish.write(result, y: y, rows)
      }
    }
  }
}
