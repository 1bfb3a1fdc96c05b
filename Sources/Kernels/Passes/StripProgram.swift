import CKernels

/// What is done to each strip, in order.
package struct StripProgram: Sendable {
  /// One step on a strip, in place.
  package indirect enum Step: Sendable {
    case matrix(StripMatrix)
    case field(ScalarField)
    /// Divides colour by alpha.
    case unpremultiply
    /// Multiplies colour by alpha.
    case premultiply
  }

  package var steps: [Step]

  /// Strips of scratch that ``run(_:memory:)`` needs.
  package var scratchStrips: Int { 1 }

  /// Runs the steps on one strip.
  ///
  /// - Parameter scratch: A strip's place that holds nothing of value.
  func run(_ strip: Strip, scratch: Strip, rows: UnsafePointer<sl_rows>) {
    let rows = unsafe rows.pointee
    for step in self.steps {
      switch step {
      case .matrix(let matrix):
        unsafe matrix.coefficients.withUnsafeBufferPointer {
          unsafe rows.matrix(
            strip.red, strip.green, strip.blue, strip.alpha, strip.count,
            $0.baseAddress.unsafelyUnwrapped, matrix.keepsAlpha ? 0 : 1)
        }
      case .field(let field):
        for index in 0 ..< strip.count {
          unsafe scratch.red[index] = Float(
            field.value(Double(strip.x + index) + 0.5, Double(strip.y) + 0.5))
        }
        unsafe rows.scale(strip.red, strip.green, strip.blue, scratch.red, strip.count)
      case .unpremultiply:
        unsafe rows.unpremultiply(
          strip.red, strip.green, strip.blue, strip.alpha, strip.count)
      case .premultiply:
        unsafe rows.premultiply(strip.red, strip.green, strip.blue, strip.alpha, strip.count)
      }
    }
  }
}
