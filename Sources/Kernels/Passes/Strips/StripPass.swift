import CKernels

/// A pointwise pass: rows are loaded into strips of floats, processed, and rounded once.
///
/// 4:2:0 formats are processed in pairs of rows: a chroma sample is read for its 2x2 pixels, and
/// written as the mean of theirs.
package struct StripPass: Pass {
  package let description: PassDescription
  private let program: StripProgram
  private let decoding: YUVConversion
  private let encoding: YUVConversion

  /// Creates a pass that encodes its output like its input.
  package init(description: PassDescription, program: StripProgram, color: ColorDescription) {
    self.init(description: description, program: program, from: color, to: color)
  }

  /// Creates a pass that converts: input and output may differ in format and colour description.
  init(
    description: PassDescription, program: StripProgram, from source: ColorDescription,
    to target: ColorDescription
  ) {
    self.description = description
    self.program = program
    self.decoding = YUVConversion(source)
    self.encoding = YUVConversion(target)
  }

  /// An output sample depends on the input samples at its position, which its band reads first.
  /// Where 2x2 pixels share chroma, one band reads all of them before it writes.
  package var worksInPlace: Bool { true }

  package func kernelNanoseconds(_ size: FrameSize) -> Double {
    Double(size.pixelCount) * self.program.kernelNanoseconds * InstructionSet.kernelSlowness
  }

  package func run(_ context: PassContext) async {
    let size = context.output.size
    let nanoseconds =
      Double(size.pixelCount) * (1 + 0.5 * Double(self.program.count))
      + self.kernelNanoseconds(size)
    let sharesRows = context.output.format.isYUV || context.inputs[0].format.isYUV
    await context.bands.run(
      rows: size.height, alignment: sharesRows ? 2 : 1, nanoseconds: nanoseconds
    ) { rows in
      self.run(rows, context, StripMemory(strips: 2 + self.program.scratchStrips))
    }
  }

  private func run(
    _ rows: Range<Int>, _ context: PassContext, _ memory: borrowing StripMemory
  ) {
    let table = unsafe sl_rows_current().pointee
    let source = unsafe StripStore(context.inputs[0].view, self.decoding, table)
    let other =
      context.inputs.count > 1
      ? unsafe StripStore(context.inputs[1].view, self.decoding, table) : source
    let destination = unsafe StripStore(context.output.view, self.encoding, table)
    let size = context.output.size
    let rowsAtOnce = destination.rowsAtOnce
    var first = memory.strip(0, time: context.time)
    var second = memory.strip(1, time: context.time)
    func compute(_ strip: inout Strip, x: Int, y: Int) {
      strip.x = x
      strip.y = y
      strip.count = min(Strip.capacity, size.width - x)
      let isFiltered = self.program.byteCurves.map { source.load(strip, through: $0) } ?? false
      if !isFiltered { source.load(strip) }
      unsafe self.program.run(
        strip, memory: memory, level: 2, rows: table, from: isFiltered ? 1 : 0
      ) { other.load($0) }
    }
    for y in stride(from: rows.lowerBound, to: rows.upperBound, by: rowsAtOnce) {
      let isPair = rowsAtOnce == 2 && y + 1 < size.height
      for x in stride(from: 0, to: size.width, by: Strip.capacity) {
        compute(&first, x: x, y: y)
        if isPair { compute(&second, x: x, y: y + 1) }
        destination.store(first, isPair ? second : nil)
      }
    }
  }
}
