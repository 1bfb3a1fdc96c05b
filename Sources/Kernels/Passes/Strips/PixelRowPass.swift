import CKernels

/// A function of BGRA, RGBA or RGB bytes with straight or ignored alpha, without strips of floats.
///
/// The results are the bytes that a ``StripPass`` gives.
final class PixelRowPass: Pass {
  let description: PassDescription
  private let function: PixelFunction
  private let red: Int
  private let kernelNanosecondsPerPixel: Double

  /// Creates the pass for operations that compute a channel from its byte alone, by using a table
  /// of its 256 values, or for one kernel that has a ``StripKernel/pixels`` function.
  ///
  /// - Returns: `nil` for other operations, other formats and premultiplied colour.
  init?(
    description: PassDescription, _ operations: [PointOperation], geometry: FrameGeometry,
    budget: PlanBudget
  ) {
    let isOpaque = geometry.alpha == .opaque
    guard let order = PixelOrder.colors(of: geometry.format),
      let red = order.firstIndex(of: 0), geometry.alpha != .premultiplied
    else { return nil }
    self.description = description
    self.red = red
    // Tables take less time, however long the kernel.
    if operations.count == 1, case .kernel(let kernel) = operations[0], !kernel.isCurve,
      let pixels = kernel.pixels
    {
      self.function = pixels
      self.kernelNanosecondsPerPixel = kernel.nanosecondsPerPixel ?? 0
      return
    }
    guard operations.allSatisfy({ $0.isChannelwise(isOpaque: isOpaque) }) else { return nil }
    var compiler = StripCompiler(
      size: geometry.size, isOpaque: isOpaque, isPremultiplied: false, budget: budget)
    let program = compiler.compile(operations, premultiplied: false, limited: false)
    let tables = sl_byte_tables(program, order: order)
    self.kernelNanosecondsPerPixel = 0
    self.function = unsafe PixelFunction { input, count, _, output in
      unsafe withUnsafePointer(to: tables) {
        unsafe sl_rows_current().pointee.look_up_pixels(input, count, $0, output)
      }
    }
  }

  var worksInPlace: Bool { true }

  func kernelNanoseconds(_ size: FrameSize) -> Double {
    Double(size.pixelCount) * self.kernelNanosecondsPerPixel * InstructionSet.kernelSlowness
  }

  func run(_ context: PassContext) async {
    let size = context.output.size
    await context.bands.run(
      rows: size.height,
      nanoseconds: Double(size.pixelCount) * 0.4 + self.kernelNanoseconds(size)
    ) { band in
      let rows = unsafe sl_rows_current().pointee
      let source = PixelStaging(context.inputs[0].view)
      let target = PixelStaging(context.output.view)
      for y in band {
        let input = unsafe source.input(y, rows)
        unsafe target.withOutput(y, rows) { output in
          unsafe self.function.apply(input, size.width, self.red, output)
        }
      }
    }
  }
}

extension sl_byte_tables {
  /// Creates the tables of a program.
  ///
  /// - Parameters:
  ///   - program: Functions of channels.
  ///   - order: Whether a byte of a pixel is red (0), green (1) or blue (2), for all of its bytes.
  fileprivate init(_ program: StripProgram, order: [Int]) {
    self.init()
    let rows = unsafe sl_rows_current().pointee
    let memory = StripMemory(strips: 1 + program.scratchStrips)
    var strip = memory.strip(0, time: FrameTime())
    strip.count = 256
    // Opaque pixels with the same byte in all three channels.
    var pixels = (0 ..< 256).map { 0xff00_0000 | UInt32($0) * 0x01_0101 }
    unsafe rows.load_bgra_u8(
      &pixels, strip.count, strip.red, strip.green, strip.blue, strip.alpha)
    unsafe program.run(strip, memory: memory, level: 1, rows: rows) { _ in }
    unsafe rows.store_bgra_u8(
      strip.red, strip.green, strip.blue, strip.alpha, strip.count, &pixels)
    unsafe withUnsafeMutableBytes(of: &self.entries) { entries in
      for (byte, color) in order.enumerated() {
        let shift = UInt32(8 * (2 - color))
        for value in 0 ..< 256 {
          unsafe entries[256 * byte + value] = UInt8(truncatingIfNeeded: pixels[value] >> shift)
        }
      }
    }
    let colors = pixels.allSatisfy { $0 & 0xffff == $0 >> 8 & 0xffff }
    self.are_equal = colors ? 1 : 0
    extendLifetime(memory)
  }
}

extension PointOperation {
  /// Whether every colour channel is a function of itself alone, the same at every position and for
  /// every alpha.
  ///
  /// - Parameter isOpaque: Whether alpha is ignored.
  fileprivate func isChannelwise(isOpaque: Bool) -> Bool {
    switch self {
    case .matrix(let matrix):
      let matrix = isOpaque ? matrix.opaque : matrix
      return matrix.keepsAlpha && !matrix.readsAlpha && matrix.isDiagonal
    case .kernel(let kernel): return kernel.isCurve
    case .transfer: return true
    // In pictures with alpha, colours are mixed by using alpha as their weight.
    case .group(let operations, _, nil):
      return isOpaque && operations.allSatisfy { $0.isChannelwise(isOpaque: true) }
    case .field, .adaptive, .source, .group, .blend: return false
    }
  }
}

extension ColorMatrix {
  /// Whether colour channels are independent of each other.
  fileprivate var isDiagonal: Bool {
    self.red.y == 0 && self.red.z == 0 && self.green.x == 0 && self.green.z == 0
      && self.blue.x == 0 && self.blue.y == 0
  }
}
