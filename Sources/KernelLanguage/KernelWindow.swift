import CKernels
import SidelightKernels

/// A compiled kernel that reads other pixels.
struct KernelWindow: CompiledNeighborhoodKernel {
  let program: KernelProgram

  var reach: Int { self.program.reach }

  var nanosecondsPerPixel: Double { self.program.nanosecondsPerPixel }

  func callAsFunction(_ window: PixelWindow, at position: PixelPosition) -> Pixel {
    let result = self.program.evaluate(
      .zero, x: position.x, y: position.y, FrameTime(index: position.frame)
    ) { x, y, channel in
      let pixel = window[x, y]
      return Double(
        channel == 0
          ? pixel.red : channel == 1 ? pixel.green : channel == 2 ? pixel.blue : pixel.alpha)
    }
    return Pixel(
      red: Float(result.x), green: Float(result.y), blue: Float(result.z), alpha: Float(result.w))
  }

  func apply(_ window: PixelWindow, to strip: ColorStrip) {
    let time = FrameTime(index: strip.frame, arrival: strip.arrival)
    unsafe self.program.run(
      Strip(
        red: strip.red, green: strip.green, blue: strip.blue, alpha: strip.alpha,
        count: strip.count, x: strip.x, y: strip.y, time: time),
      window: window, sl_rows_current().pointee)
  }
}
