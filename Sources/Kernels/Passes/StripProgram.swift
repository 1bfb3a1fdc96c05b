import CKernels

/// What is done to each strip, in order.
@safe
package final class StripProgram: @unchecked Sendable {  // the steps are written once, in init
  private let steps: UnsafeMutableBufferPointer<StripStep>
  /// Fields, kernels and programs that steps refer to.
  private let owned: [any AnyObject & Sendable]

  /// How many steps there are.
  var count: Int { unsafe self.steps.count }
  /// How many strips of scratch the steps need.
  let scratchStrips: Int

  /// - Parameters:
  ///   - steps: What is to be done.
  ///   - owned: What the steps refer to.
  init(steps: [StripStep], owned: [any AnyObject & Sendable]) {
    unsafe self.steps = .allocate(capacity: steps.count)
    _ = unsafe self.steps.initialize(from: steps)
    self.owned = owned
    self.scratchStrips =
      1 + owned.reduce(0) { max($0, ($1 as? StripProgram)?.scratchStrips ?? 0) }
  }

  deinit {
    unsafe self.steps.deallocate()
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
    let scratch = memory.strip(level, at: strip)
    for index in unsafe 0 ..< self.steps.count {
      switch unsafe self.steps[index] {
      case .matrix(let matrix):
        unsafe withUnsafePointer(to: matrix.coefficients) {
          unsafe rows.color_matrix(
            strip.red, strip.green, strip.blue, strip.alpha, strip.count, $0,
            matrix.keepsAlpha ? 0 : 1)
        }
      case .field(let field):
        unsafe field.fill(scratch.red, for: strip, rows)
        unsafe rows.multiply(strip.red, strip.green, strip.blue, scratch.red, strip.count)
      case .kernel(let kernel, let isOpaque):
        var target = strip
        if isOpaque {
          unsafe scratch.alpha.update(repeating: 1, count: strip.count)
          target = strip.replacingAlpha(by: scratch)
        }
        unsafe kernel._withUnsafeGuaranteedRef { $0.apply(target) }
      case .source(let step):
        loadOther(scratch)
        unsafe step.run(strip, source: scratch, rows: rows)
      case .unpremultiply:
        unsafe rows.unpremultiply(strip.red, strip.green, strip.blue, strip.alpha, strip.count)
      case .premultiply:
        unsafe rows.premultiply(strip.red, strip.green, strip.blue, strip.alpha, strip.count)
      case .limit:
        unsafe rows.limit_to_alpha(strip.red, strip.green, strip.blue, strip.alpha, strip.count)
      case .seal:
        unsafe strip.alpha.update(repeating: 1, count: strip.count)
      case .group(let program, let amount, let rect, let weighsAlpha):
        guard rect?.meets(strip) ?? true else { continue }
        scratch.copy(from: strip)
        unsafe program._withUnsafeGuaranteedRef {
          unsafe $0.run(
            strip, memory: memory, level: level + 1, rows: rows, loadOther: loadOther)
        }
        unsafe strip.mix(from: scratch, amount, rect, rows, weighsAlpha: weighsAlpha)
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
