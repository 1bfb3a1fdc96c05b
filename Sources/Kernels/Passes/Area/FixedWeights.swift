/// The weights of a convolution of bytes as 16-bit integers, for those that lose next to nothing so.
struct FixedWeights: Sendable {
  /// The width of the square of weights.
  let side: Int
  /// Which of the square's places have weights, counted row by row from the top left; an even
  /// number of them.
  let taps: [Int]
  /// A weight for each.
  let values: [Int16]
  /// What is added, in the weights' unit.
  let bias: Int32
  /// How many bits too many the sums have for deep samples.
  let shift: Int

  /// - Returns: `nil` if sums could be off by a quarter of a level, or leave 32 bits.
  init?(_ kernel: ConvolutionKernel) {
    var taps = kernel.weights.indices.filter { kernel.weights[$0] != 0 }
    // Rows in C take them by twos; a weight of zero makes up the number.
    if !taps.count.isMultiple(of: 2) { taps.append(taps[0]) }
    let greatest = kernel.weights.reduce(0) { max($0, abs($1)) }
    guard greatest < 1024, abs(kernel.bias) < 65536 else { return nil }
    var bits = 14
    while greatest * Double(1 << bits) > 32767 { bits -= 1 }
    let unit = Double(1 << bits)
    let isMakeweight = { (index: Int) in index > 0 && taps[index] <= taps[index - 1] }
    let values = taps.indices.map { index in
      isMakeweight(index) ? 0 : (kernel.weights[taps[index]] * unit).rounded()
    }
    let lost = taps.indices.reduce(0) { sum, index in
      isMakeweight(index) ? sum : sum + abs(kernel.weights[taps[index]] - values[index] / unit)
    }
    guard bits > 5, lost * 255 <= 0.25 else { return nil }
    self.side = kernel.side
    self.taps = taps
    self.values = values.map { Int16($0) }
    self.bias = Int32((kernel.bias * unit).rounded())
    self.shift = bits - 5
  }
}
