import CKernels

/// A user's function of each pixel's neighbourhood.
///
/// Each band keeps the rows that its window spans as planes of floats, with the edges' pixels beyond
/// both ends.
struct WindowPass: Pass {
  let description: PassDescription
  private let kernel: any NeighborhoodKernel
  private let conversion: YUVConversion
  private let reach: Int

  init(description: PassDescription, kernel: any NeighborhoodKernel, color: ColorDescription) {
    self.description = description
    self.kernel = kernel
    self.conversion = YUVConversion(color)
    self.reach = kernel.reach
  }

  func run(_ context: PassContext) async {
    let size = context.output.size
    let span = Double(2 * self.reach + 1)
    await context.bands.run(
      rows: size.height, alignment: context.output.format.isYUV ? 2 : 1,
      nanoseconds: Double(size.pixelCount) * (5 + span * span)
    ) { band in
      self.run(band, context)
    }
  }

  private func run(_ band: Range<Int>, _ context: PassContext) {
    let rows = unsafe sl_rows_current().pointee
    let size = context.output.size
    let source = unsafe StripPort(context.inputs[0].view, self.conversion, rows)
    let destination = unsafe StripPort(context.output.view, self.conversion, rows)
    let ring = PixelRing(
      width: size.width, height: size.height, reach: self.reach, moment: context.moment)
    let memory = StripMemory(strips: 2)
    for y in stride(from: band.lowerBound, to: band.upperBound, by: destination.rowsAtOnce) {
      let height = min(destination.rowsAtOnce, size.height - y)
      // All of a row's strips before the next row's would need the ring to hold both; so the ring
      // has room for one row more.
      for row in y - self.reach ... y + height - 1 + self.reach { ring.load(row, from: source) }
      for x in stride(from: 0, to: size.width, by: Strip.capacity) {
        var strips: [Strip] = []
        for row in 0 ..< height {
          var strip = memory.strip(row, moment: context.moment)
          strip.x = x
          strip.y = y + row
          strip.count = min(Strip.capacity, size.width - x)
          ring.withWindow(y: y + row) { window in
            self.kernel.apply(window, to: ColorStrip(strip))
          }
          strips.append(strip)
        }
        destination.store(strips)
      }
    }
  }
}
