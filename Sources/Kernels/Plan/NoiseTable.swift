/// Bytes of noise, the same on every machine. Rows of pixels read runs of it from hashed offsets.
package enum NoiseTable {
  /// How many different offsets there are.
  package static let period = 65536

  /// The noise; it goes on beyond ``period`` for the length of the longest row.
  package static let values: [UInt8] = (0 ..< period + FrameLayout.maxDimension).map { index in
    UInt8(truncatingIfNeeded: mix(UInt64(index)) >> 56)
  }

  /// A hash of 64 bits in which every bit depends on every other (SplitMix64's finaliser).
  package static func mix(_ value: UInt64) -> UInt64 {
    var z = value &+ 0x9e37_79b9_7f4a_7c15
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
