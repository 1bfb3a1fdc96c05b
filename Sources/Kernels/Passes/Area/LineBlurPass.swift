import CKernels

/// Means along a line, of each plane: shifted rows, weighted and added.
package struct LineBlurPass: Pass {
  /// The sums of one plane.
  private struct PlaneLine: Sendable {
    let shape: PlaneShape
    /// The sums of all rows but perhaps the last.
    let inner: [LineKernel]
    /// The sums of the last row.
    let last: [LineKernel]

    /// A row's sums are those of its pixels and, if they differ, those of its last pixel.
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

  package let description: PassDescription
  private let planes: [PlaneLine]
  private let isNothing: Bool
  private let keepsFourthChannel: Bool

  init(_ setting: PassSetting, _ operation: LineBlurOperation) {
    let (line, size) = (operation.line, setting.geometry.size)
    self.description = setting.description
    self.keepsFourthChannel = setting.keepsFourthChannel
    self.isNothing = line.taps.count <= 1
    self.planes = PlaneShape.planes(setting.geometry.format, size).map {
      PlaneLine($0, line, of: size)
    }
  }

  package func run(_ context: PassContext) async {
    let source = context.inputs[0].view
    for plane in self.planes {
      guard !self.isNothing else {
        await PlaneCopy(shape: plane.shape).run(context)
        continue
      }
      let finish = RowFinish(
        context, plane.shape, fractionBits: source.depth == .eight ? 6 : 5,
        keepsAlpha: self.keepsFourthChannel)
      let samples = Double(plane.shape.samples * plane.shape.height)
      let end = plane.shape.height - 1
      await context.bands.run(
        rows: plane.shape.height, nanoseconds: samples * 0.02 * Double(plane.inner[0].pairs.count)
      ) { band in
        let inner = band.lowerBound ..< max(band.lowerBound, min(band.upperBound, end))
        Self.run(inner, source, plane.shape, plane.inner, finish)
        if band.contains(end) { Self.run(end ..< end + 1, source, plane.shape, plane.last, finish) }
      }
    }
  }

  private static func run(
    _ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape, _ kernels: [LineKernel],
    _ finish: RowFinish
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
        unsafe finish.write(result, y: y, rows)
      }
    }
  }
}
