import CKernels

/// A function per colour channel for the 256 values of a byte, computed once using the function's
/// own rows. A lookup replaces the conversion of bytes to floats and the function.
@safe
final class ByteCurves: @unchecked Sendable {  // the entries are written once, in init
  /// For red, green and blue, 256 entries of four floats: the value at the channel's index, and 0.
  private let entries: UnsafeMutablePointer<Float>
  private static let channelFloats = 4 * 256

  /// Computes the tables of a kernel.
  ///
  /// - Precondition: The kernel is a curve.
  init(_ kernel: StripKernel) {
    let count = 3 * Self.channelFloats
    let bytes = UnsafeMutableRawPointer.allocate(
      byteCount: count * MemoryLayout<Float>.stride, alignment: 64)
    unsafe self.entries = bytes.initializeMemory(as: Float.self, repeating: 0, count: count)
    let memory = StripMemory(strips: 1)
    var strip = memory.strip(0, time: FrameTime())
    strip.count = 256
    unsafe strip.forEachChannel { channel in
      for value in 0 ..< 256 { unsafe channel[value] = Float(value) * (1 / 255) }
    }
    kernel.apply(strip)
    var place = 0
    unsafe strip.forEachColor { channel in
      let table = unsafe self.entries + place * Self.channelFloats
      for value in 0 ..< 256 { unsafe table[4 * value + place] = channel[value] }
      place += 1
    }
    extendLifetime(memory)
  }

  deinit {
    unsafe self.entries.deallocate()
  }

  /// The table of a channel: 0 for red, 1 for green, 2 for blue.
  func table(_ channel: Int) -> UnsafePointer<Float> {
    unsafe UnsafePointer(self.entries + channel * Self.channelFloats)
  }
}
