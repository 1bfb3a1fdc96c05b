import CKernels

/// A weighted mean of fixed neighbours of each plane.
///
/// A band keeps the rows that the neighbours lie in, widened and with their edges' pixels beyond
/// both ends, and adds them up shifted.
struct SparseFilterPass: Pass {
  let description: PassDescription
  private let operation: SparseFilterOperation
  private let keepsFourthChannel: Bool

  init(_ setting: PassSetting, _ operation: SparseFilterOperation) {
    self.description = setting.description
    self.operation = operation
    self.keepsFourthChannel = setting.keepsFourthChannel
  }

  func run(_ context: PassContext) async {
    for shape in PlaneShape.planes(context.output.format, context.output.size) {
      let taps = self.operation.taps(shape.scale)
      let source = context.inputs[0].view
      let finish = RowFinish(
        context, shape, fractionBits: source.depth == .eight ? 7 : 5,
        keepsAlpha: self.keepsFourthChannel)
      await context.bands.run(
        rows: shape.height,
        nanoseconds: Double(shape.samples * shape.height) * (0.1 + 0.02 * Double(taps.count))
      ) { band in
        Self.run(band, source, shape, taps, finish)
      }
    }
  }

  private static func run(
    _ band: Range<Int>, _ source: RasterView, _ shape: PlaneShape,
    _ taps: [SparseFilterOperation.Tap], _ finish: RowFinish
  ) {
    let rows = unsafe sl_rows_current().pointee
    let reachX = taps.reduce(0) { max($0, abs($1.x)) }
    let reachY = taps.reduce(0) { max($0, abs($1.y)) }
    let slots = 2 * reachY + 1
    let margin = reachX * shape.step
    let rowSamples = shape.samples + 2 * margin
    let memory = SampleMemory(count: slots * rowSamples + shape.samples)
    let result = unsafe memory[slots * rowSamples]
    var held = Array(repeating: -1, count: slots)
    // What rounding the weights lost goes to the heaviest, so that a flat field stays flat.
    var weights = taps.map { Int(($0.weight * 32768).rounded()) }
    if let heaviest = weights.indices.max(by: { weights[$0] < weights[$1] }) {
      weights[heaviest] += 32768 - weights.reduce(0, +)
    }
    let fixed = weights.map { Int16(clamping: $0) }
    unsafe withUnsafeTemporaryAllocation(
      of: UnsafePointer<Int16>.self, capacity: taps.count
    ) { pointers in
      for y in band {
        for (index, tap) in taps.enumerated() {
          let row = min(max(y + tap.y, 0), shape.height - 1)
          let start = unsafe memory[row % slots * rowSamples + margin]
          if held[row % slots] != row {
            held[row % slots] = row
            let input = unsafe source.row(row, plane: shape.plane)
            switch source.depth {
            case .eight: unsafe rows.widen7(input, shape.samples, start)
            case .deep:
              unsafe UnsafeMutableRawPointer(start)
                .copyMemory(from: input, byteCount: shape.samples * 2)
            }
            unsafe rows.replicate_edges(start, shape.step, shape.width, reachX)
          }
          unsafe pointers.initializeElement(
            at: index, to: UnsafePointer(start + tap.x * shape.step))
        }
        unsafe rows.sparse_sum(
          pointers.baseAddress.unsafelyUnwrapped, fixed, taps.count, shape.samples, result)
        unsafe finish.write(result, y: y, rows)
      }
    }
  }
}
