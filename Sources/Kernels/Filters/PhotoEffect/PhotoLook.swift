import CKernels

/// A fixed look: colours are mixed, then each channel goes through a curve of its own.
struct PhotoLook: Sendable {
  /// What is done to colour first.
  let matrix: ColorMatrix
  /// Then to red, green and blue.
  let curves: [ToneCurve]

  /// Channels with curves of their own.
  init(_ matrix: ColorMatrix, red: ToneCurve, green: ToneCurve, blue: ToneCurve) {
    self.matrix = matrix
    self.curves = [red, green, blue]
  }

  /// All channels with the same curve.
  init(_ matrix: ColorMatrix, _ curve: ToneCurve) {
    self.init(matrix, red: curve, green: curve, blue: curve)
  }

  /// The look as nodes; alpha is kept.
  var nodes: [Node] {
    let curves = self.curves
    let kernel = StripKernel { pixel, _, _, _ in
      [curves[0](pixel.x), curves[1](pixel.y), curves[2](pixel.z), pixel.w]
    } apply: { strip in
      let rows = unsafe sl_rows_current()
      for unsafe(curve, channel) in unsafe zip(curves, [strip.red, strip.green, strip.blue]) {
        unsafe curve.knots.withUnsafeBufferPointer {
          unsafe rows.pointee.curve(
            channel, strip.count, $0.baseAddress.unsafelyUnwrapped, ToneCurve.intervals)
        }
      }
    }
    return [.matrix(self.matrix), Node(.kernel(kernel))]
  }
}
