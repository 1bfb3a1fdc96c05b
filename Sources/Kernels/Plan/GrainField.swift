/// Noise by which colour is multiplied: 1 - amount * n, n of 256 equally likely values 0 ... 1.
package struct GrainField: Sendable, Hashable {
  /// How much of the light the noise may take, 0 ... 1.
  package let amount: Double
  /// Another seed, another noise.
  package let seed: UInt64

  /// The noise at a pixel.
  package func value(x: Int, y: Int, moment: FrameMoment) -> Double {
    let noise = unsafe NoiseTable.start[self.offset(y: y, moment: moment) + x]
    return 1 - self.amount * Double(noise) / 255
  }

  /// Where a row's noise starts in the table.
  package func offset(y: Int, moment: FrameMoment) -> Int {
    var hash = NoiseTable.mix(self.seed &+ 0x9e37_79b9_7f4a_7c15)
    hash = NoiseTable.mix(hash ^ moment.index)
    hash = NoiseTable.mix(hash ^ UInt64(truncatingIfNeeded: y))
    return Int(hash % UInt64(NoiseTable.period))
  }
}
