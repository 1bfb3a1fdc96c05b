import CKernels

/// What is done to each strip, in order.
package struct StripProgram: Sendable {
  /// One step on a strip, in place.
  package indirect enum Step: Sendable {
    case matrix(StripMatrix)
    case field(PlannedField)
    /// A function; where the picture is opaque it sees alpha 1, and what it does to alpha is void.
    case kernel(StripKernel, isOpaque: Bool)
    /// Divides colour by alpha.
    case unpremultiply
    /// Multiplies colour by alpha.
    case premultiply
    /// Limits colour to alpha.
    case limit
    /// Steps whose result is mixed with their input, within a rectangle.
    case group(StripProgram, amount: Float, rect: PixelRect?)
    /// Mixes with the pass's other picture.
    case blend(amount: Float, rect: PixelRect?, premultiplies: Bool)
  }

  package let steps: [Step]

  package init(steps: [Step]) {
    self.steps = steps
  }

  /// How many strips of scratch the steps need.
  package var scratchStrips: Int {
    self.steps.reduce(1) { most, step in
      if case .group(let inner, _, _) = step { max(most, 1 + inner.scratchStrips) } else { most }
    }
  }

  /// Runs the steps on one strip.
  ///
  /// - Parameters:
  ///   - memory: Holds the scratch.
  ///   - level: The first strip of the memory that holds nothing of value.
  ///   - loadOther: Fills a strip from the same place of the pass's other picture.
  func run(
    _ strip: Strip, memory: borrowing StripMemory, level: Int, rows: sl_rows,
    loadOther: (Strip) -> Void
  ) {
    for step in self.steps {
      let scratch = memory.strip(level, at: strip)
      switch step {
      case .matrix(let matrix):
        unsafe matrix.coefficients.withUnsafeBufferPointer {
          unsafe rows.matrix(
            strip.red, strip.green, strip.blue, strip.alpha, strip.count,
            $0.baseAddress.unsafelyUnwrapped, matrix.keepsAlpha ? 0 : 1)
        }
      case .field(let field):
        unsafe field.fill(scratch.red, for: strip, rows)
        unsafe rows.scale(strip.red, strip.green, strip.blue, scratch.red, strip.count)
      case .kernel(let kernel, let isOpaque):
        if isOpaque {
          unsafe scratch.alpha.update(repeating: 1, count: strip.count)
          kernel.apply(strip.replacingAlpha(by: scratch))
        } else {
          kernel.apply(strip)
        }
      case .unpremultiply:
        unsafe rows.unpremultiply(
          strip.red, strip.green, strip.blue, strip.alpha, strip.count)
      case .premultiply:
        unsafe rows.premultiply(strip.red, strip.green, strip.blue, strip.alpha, strip.count)
      case .limit:
        unsafe rows.limit(strip.red, strip.green, strip.blue, strip.alpha, strip.count)
      case .group(let program, let amount, let rect):
        guard rect?.meets(strip) ?? true else { continue }
        scratch.copy(from: strip)
        unsafe program.run(
          strip, memory: memory, level: level + 1, rows: rows, loadOther: loadOther)
        unsafe strip.mix(from: scratch, amount, rect, rows)
      case .blend(let amount, let rect, let premultiplies):
        loadOther(scratch)
        if premultiplies {
          unsafe rows.premultiply(
            scratch.red, scratch.green, scratch.blue, scratch.alpha, strip.count)
        }
        unsafe strip.mix(from: scratch, amount, rect, rows)
      }
    }
  }
}
