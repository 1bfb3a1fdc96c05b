/// Noise that multiplies colour: 1 - amount * n, with n one of 256 equally likely values in 0 ...
/// 1.
package struct GrainField: Sendable, Hashable {
  /// The maximum share of light that the noise removes, 0 ... 1.
  package let amount: Double
  /// The seed; different seeds give different noise.
  package let seed: UInt64

  /// The noise at a pixel.
  package func value(x: Int, y: Int, time: FrameTime) -> Double {
    let noise = unsafe NoiseTable.start[self.offset(y: y, time: time) + x]
    return 1 - self.amount * Double(noise) / 255
  }

  /// The offset of a row's noise in the table.
  package func offset(y: Int, time: FrameTime) -> Int {
    var hash = NoiseTable.mix(self.seed &+ 0x9e37_79b9_7f4a_7c15)
    hash = NoiseTable.mix(hash ^ time.index)
    hash = NoiseTable.mix(hash ^ UInt64(truncatingIfNeeded: y))
    return Int(hash % UInt64(NoiseTable.period))
  }
}

/// Bytes of noise, the same on every machine. Rows of pixels read runs of it from hashed offsets.
package enum NoiseTable {
  /// The number of distinct offsets.
  package static let period = 65536

  private static let values: UnsafeSendableBytes = {
    let count = Self.period + FrameLayout.maxDimension
    let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: count)
    for index in 0 ..< count {
      unsafe (bytes + index).initialize(to: UInt8(truncatingIfNeeded: mix(UInt64(index)) >> 56))
    }
    return unsafe UnsafeSendableBytes(start: UnsafePointer(bytes))
  }()

  @safe
  private struct UnsafeSendableBytes: @unchecked Sendable {  // written once, never freed
    let start: UnsafePointer<UInt8>
  }

  /// The first byte. The table continues beyond ``period`` for the length of the longest row.
  package static var start: UnsafePointer<UInt8> { unsafe self.values.start }

  /// A hash of 64 bits in which every bit depends on every bit of the input (the finaliser of
  /// SplitMix64).
  package static func mix(_ value: UInt64) -> UInt64 {
    var z = value &+ 0x9e37_79b9_7f4a_7c15
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
