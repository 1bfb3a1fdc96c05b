/// The affine map from one format's code values to another's, with a colour matrix in between.
///
/// Sources and targets are code values 0 ... 255: of pixels in the order of memory, or luma, Cb, Cr.
struct AffineCoding {
  /// For each result the weights of the source's values.
  let weights: [[Double]]
  /// What is added to each result.
  let biases: [Double]

  /// - Parameters:
  ///   - inputs: How many values a source has.
  ///   - map: The map.
  init(inputs: Int, _ map: ([Double]) -> [Double]) {
    let zero = [Double](repeating: 0, count: inputs)
    let biases = map(zero)
    let columns = (0 ..< inputs).map { input -> [Double] in
      var unit = zero
      unit[input] = 1
      return zip(map(unit), biases).map { $0 - $1 }
    }
    self.biases = biases
    self.weights = biases.indices.map { row in columns.map { $0[row] } }
  }

  /// The weights in 1/8192.
  ///
  /// - Returns: `nil` if they do not fit 16 bits.
  var fixedWeights: [[Int16]]? {
    guard self.weights.joined().allSatisfy({ abs($0) < 3.99 }),
      self.biases.allSatisfy({ abs($0) < 1000 })
    else { return nil }
    return self.weights.map { row in row.map { Int16(($0 * 8192).rounded()) } }
  }
}
