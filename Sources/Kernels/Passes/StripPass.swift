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
    let destination = context.output
    let size = source.size
    let moment = context.moment
    let isYUV = source.format.isYUV
    let nanoseconds = Double(size.pixelCount) * (1 + 0.5 * Double(self.program.steps.count))
    await context.bands.run(
      rows: size.height, alignment: isYUV ? 2 : 1, nanoseconds: nanoseconds
    ) { rows in
      let memory = StripMemory(strips: 2 + self.program.scratchStrips)
      if isYUV {
        self.runYUV(rows, source, destination, moment, memory)
      } else {
        self.runPixels(rows, source, destination, moment, memory)
      }
    }
  }

  private func runPixels(
    _ rows: Range<Int>, _ source: Raster, _ destination: Raster, _ moment: FrameMoment,
    _ memory: borrowing StripMemory
  ) {
    let table = unsafe sl_rows_current()
    let load = unsafe PixelRows.load(table.pointee, source.format, source.depth)
    let store = unsafe PixelRows.store(table.pointee, destination.format, destination.depth)
    let loadStep = source.format.rowByteCount(plane: 0, width: 1) * source.depth.byteCount
    let storeStep = destination.format.rowByteCount(plane: 0, width: 1) * destination.depth.byteCount
    var strip = memory.strip(0, moment: moment)
    let scratch = memory.strip(1, moment: moment)
    for y in rows {
      let input = unsafe source.row(y)
      let output = unsafe destination.row(y)
      for x in stride(from: 0, to: source.size.width, by: Strip.capacity) {
        strip.x = x
        strip.y = y
        strip.count = min(Strip.capacity, source.size.width - x)
        unsafe load(
          input + x * loadStep, strip.count, strip.red, strip.green, strip.blue, strip.alpha)
        unsafe self.program.run(strip, scratch: scratch, rows: table)
        unsafe store(
          strip.red, strip.green, strip.blue, strip.alpha, strip.count, output + x * storeStep)
      }
    }
  }

  private func runYUV(
    _ rows: Range<Int>, _ source: Raster, _ destination: Raster, _ moment: FrameMoment,
    _ memory: borrowing StripMemory
  ) {
    let table = unsafe sl_rows_current()
    var toRGB = self.conversion.toRGB
    var fromRGB = self.conversion.fromRGB
    let from = unsafe YUVRows(source, table.pointee)
    let to = unsafe YUVRows(destination, table.pointee)
    var strips = [memory.strip(0, moment: moment), memory.strip(1, moment: moment)]
    let scratch = memory.strip(2, moment: moment)
    for y in stride(from: rows.lowerBound, to: rows.upperBound, by: 2) {
      let height = min(2, source.size.height - y)
      for x in stride(from: 0, to: source.size.width, by: Strip.capacity) {
        let count = min(Strip.capacity, source.size.width - x)
        for row in 0 ..< height {
          strips[row].x = x
          strips[row].y = y + row
          strips[row].count = count
          from.load(&toRGB, strips[row])
          unsafe self.program.run(strips[row], scratch: scratch, rows: table)
          to.storeLuma(&fromRGB, strips[row])
        }
        to.storeChroma(&fromRGB, strips[0], strips[height - 1])
      }
    }
  }
}
