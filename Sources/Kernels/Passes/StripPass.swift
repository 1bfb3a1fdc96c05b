import CKernels

/// A pointwise pass: rows go through strips of floats, are worked on, and are rounded once.
///
/// 4:2:0 formats go by pairs of rows: a chroma sample serves its 2x2 pixels, and becomes the mean of
/// what they have become.
package struct StripPass: Pass {
  package let description: PassDescription
  private let program: StripProgram
  private let conversion: YUVConversion

  package init(description: PassDescription, program: StripProgram, color: ColorDescription) {
    self.description = description
    self.program = program
    self.conversion = YUVConversion(color)
  }

  package func run(_ context: PassContext) async {
    let source = context.inputs[0]
    let size = source.size
    let isYUV = source.format.isYUV
    let nanoseconds = Double(size.pixelCount) * (1 + 0.5 * Double(self.program.count))
    await context.bands.run(
      rows: size.height, alignment: isYUV ? 2 : 1, nanoseconds: nanoseconds
    ) { rows in
      let memory = StripMemory(strips: 2 + self.program.scratchStrips)
      if isYUV {
        self.runYUV(rows, context, memory)
      } else {
        self.runPixels(rows, context, memory)
      }
    }
  }

  private func runPixels(
    _ rows: Range<Int>, _ context: PassContext, _ memory: borrowing StripMemory
  ) {
    let table = unsafe sl_rows_current().pointee
    let source = unsafe PixelRows(context.inputs[0].view, table)
    let other = context.inputs.count > 1 ? unsafe PixelRows(context.inputs[1].view, table) : source
    let destination = unsafe PixelRows(context.output.view, table)
    let width = context.output.size.width
    var strip = memory.strip(0, moment: context.moment)
    for y in rows {
      strip.y = y
      for x in stride(from: 0, to: width, by: Strip.capacity) {
        strip.x = x
        strip.count = min(Strip.capacity, width - x)
        source.load(strip)
        unsafe self.program.run(strip, memory: memory, level: 1, rows: table) { other.load($0) }
        destination.store(strip)
      }
    }
  }

  private func runYUV(
    _ rows: Range<Int>, _ context: PassContext, _ memory: borrowing StripMemory
  ) {
    let table = unsafe sl_rows_current().pointee
    let source = unsafe YUVRows(context.inputs[0].view, self.conversion, table)
    let other =
      context.inputs.count > 1
      ? unsafe YUVRows(context.inputs[1].view, self.conversion, table) : source
    let destination = unsafe YUVRows(context.output.view, self.conversion, table)
    let size = context.output.size
    var strips = [
      memory.strip(0, moment: context.moment), memory.strip(1, moment: context.moment),
    ]
    for y in stride(from: rows.lowerBound, to: rows.upperBound, by: 2) {
      let height = min(2, size.height - y)
      for x in stride(from: 0, to: size.width, by: Strip.capacity) {
        for row in 0 ..< height {
          strips[row].x = x
          strips[row].y = y + row
          strips[row].count = min(Strip.capacity, size.width - x)
          source.load(strips[row])
          unsafe self.program.run(strips[row], memory: memory, level: 2, rows: table) {
            other.load($0)
          }
          destination.storeLuma(strips[row])
        }
        destination.storeChroma(strips[0], strips[height - 1])
      }
    }
  }
}
