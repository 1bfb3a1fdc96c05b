import CKernels

/// A fixed look: colours are mixed, then each channel goes through a curve of its own.
struct PhotoLook: Sendable {
  /// What is done to colour first.
  let matrix: ColorMatrix
  /// Then to red, green and blue.
  let curves: [LookCurve]

  /// Channels with curves of their own.
  init(_ matrix: ColorMatrix, red: LookCurve, green: LookCurve, blue: LookCurve) {
    self.matrix = matrix
    self.curves = [red, green, blue]
  }

  /// All channels with the same curve.
  init(_ matrix: ColorMatrix, _ curve: LookCurve) {
    self.init(matrix, red: curve, green: curve, blue: curve)
  }

  /// The look as nodes; alpha is kept.
  var nodes: [Node] {
    let curves = self.curves
    let (red, green, blue) = (curves[0].knots, curves[1].knots, curves[2].knots)
    let kernel = StripKernel { pixel, _, _, _ in
      [curves[0](pixel.x), curves[1](pixel.y), curves[2](pixel.z), pixel.w]
    } apply: { strip in
      let curve = unsafe sl_rows_current().pointee.lookup_curve
      let intervals = LookCurve.intervals
      unsafe curve(strip.red, strip.count, red.start, intervals)
      unsafe curve(strip.green, strip.count, green.start, intervals)
      unsafe curve(strip.blue, strip.count, blue.start, intervals)
    }
    return [.matrix(self.matrix), Node(.kernel(kernel))]
  }
}
