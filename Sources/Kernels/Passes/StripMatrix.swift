import CKernels

/// A colour matrix as the rows in C take it.
package struct StripMatrix: Sendable {
  /// Four rows of (red, green, blue, alpha, bias).
  private(set) var coefficients = sl_matrix()
  /// Whether alpha comes out as it went in.
  let keepsAlpha: Bool

  package init(_ matrix: ColorMatrix) {
    self.keepsAlpha = matrix.keepsAlpha
    let rows = [matrix.red, matrix.green, matrix.blue, matrix.alpha]
    unsafe withUnsafeMutableBytes(of: &self.coefficients) { bytes in
      let floats = unsafe bytes.bindMemory(to: Float.self)
      for (index, row) in rows.enumerated() {
        for column in 0 ..< 4 { unsafe floats[5 * index + column] = Float(row[column]) }
        unsafe floats[5 * index + 4] = Float(matrix.bias[index])
      }
    }
  }
}
