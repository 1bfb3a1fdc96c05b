/// A chain of colour matrices and fields as one expression:
///
/// `out = G0 * (M p + c0) + G1 * c1 + ... + Gn * cn`
///
/// with n fields, Gj the product of the fields from number j on (so Gn is 1), and cj the sum of the
/// biases that follow the first j fields. Exact, because intermediate results are not clamped.
package struct NormalForm: Sendable {
  /// M, with c0 as its bias.
  package private(set) var matrix = ColorMatrix.identity
  /// The fields, first to last.
  package private(set) var fields: [ScalarField] = []
  /// c1 ... cn: red, green, blue.
  package private(set) var biases: [SIMD4<Double>] = []

  /// Creates the normal form of a chain.
  ///
  /// - Returns: `nil` if an operation isn't a field, or a matrix that leaves alpha unchanged and
  ///   does not read it.
  package init?(_ operations: [PointOperation], isOpaque: Bool) {
    for operation in operations {
      switch operation {
      case .matrix(let matrix):
        let matrix = isOpaque ? matrix.opaque : matrix
        guard matrix.keepsAlpha, !matrix.readsAlpha else { return nil }
        self.append(matrix)
      case .field(let field):
        self.fields.append(field)
        self.biases.append(.zero)
      case .kernel, .transfer, .adaptive, .source, .group, .blend:
        return nil
      }
    }
  }

  private mutating func append(_ matrix: ColorMatrix) {
    // Earlier biases are transformed too; this matrix's bias belongs to the latest group.
    var linear = matrix
    linear.bias = .zero
    let bias = self.biases.isEmpty ? SIMD4<Double>.zero : matrix.bias
    self.matrix = self.matrix.followed(by: self.biases.isEmpty ? matrix : linear)
    for index in self.biases.indices { self.biases[index] = linear(self.biases[index]) }
    if let last = self.biases.indices.last { self.biases[last] += bias }
  }
}
