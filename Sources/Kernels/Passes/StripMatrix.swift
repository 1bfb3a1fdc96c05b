/// A colour matrix as the rows in C take it.
package struct StripMatrix: Sendable, Hashable {
  /// Four rows of (red, green, blue, alpha, bias).
  package let coefficients: [Float]
  /// Whether alpha comes out as it went in.
  package let keepsAlpha: Bool

  package init(_ matrix: ColorMatrix) {
    let rows = [matrix.red, matrix.green, matrix.blue, matrix.alpha]
    var coefficients: [Float] = []
    for (index, row) in rows.enumerated() {
      for column in 0 ..< 4 { coefficients.append(Float(row[column])) }
      coefficients.append(Float(matrix.bias[index]))
    }
    self.coefficients = coefficients
    self.keepsAlpha = matrix.keepsAlpha
  }
}
