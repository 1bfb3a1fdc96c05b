import CKernels

/// The steps of a pointwise pass, run on every strip in order.
@safe
package final class StripProgram: @unchecked Sendable {  // the steps are written once, in init
  private let steps: UnsafeMutableBufferPointer<StripStep>
  /// The fields, kernels and programs that steps refer to.
  private let owned: [any AnyObject & Sendable]

  var count: Int { unsafe self.steps.count }
  /// The estimated time of a pixel on one thread that the kernels from text take.
  let kernelNanoseconds: Double
  /// The number of scratch strips that the steps need.
  let scratchStrips: Int
  /// The first step for pixels of bytes, if it is a function of single channels.
  let byteCurves: ByteCurves?

  /// Creates a program.
  ///
  /// - Parameter owned: The objects that the steps refer to.
  init(steps: [StripStep], owned: [any AnyObject & Sendable]) {
    unsafe self.steps = .allocate(capacity: steps.count)
    _ = unsafe self.steps.initialize(from: steps)
    self.owned = owned
    self.byteCurves =
      if case .kernel(let kernel, _)? = steps.first {
        unsafe kernel._withUnsafeGuaranteedRef { $0.isCurve ? ByteCurves($0) : nil }
      } else {
        nil
      }
    self.kernelNanoseconds = steps.reduce(0) { $0 + $1.kernelNanoseconds }
    self.scratchStrips =
      1 + owned.reduce(0) { max($0, ($1 as? StripProgram)?.scratchStrips ?? 0) }
  }

  deinit {
    unsafe self.steps.deallocate()
  }

  /// Runs the steps on one strip.
  ///
  /// - Parameters:
  ///   - strip: The pixels, modified in place.
  ///   - memory: The scratch strips.
  ///   - level: The index of the first unused strip in `memory`.
  ///   - rows: The table of C rows.
  ///   - first: The index of the first step to run.
  ///   - loadOther: Fills a strip from the same position of the pass's second input.
  func run(
    _ strip: Strip, memory: borrowing StripMemory, level: Int, rows: sl_rows,
    from first: Int = 0, loadOther: (Strip) -> Void
  ) {
    let scratch = memory.strip(level, at: strip)
    for index in unsafe first ..< self.steps.count {
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
      case .setOpaque:
        unsafe strip.alpha.update(repeating: 1, count: strip.count)
      case .group(let program, let amount, let rect, let weighsAlpha):
        guard rect?.intersects(strip) ?? true else { continue }
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

/// A step on a strip, in place: plain numbers and unowned addresses, which threads that run the
/// same program read without contending for reference counts. The ``StripProgram`` owns the
/// objects.
@safe
enum StripStep {
  case matrix(StripMatrix)
  case field(FieldView)
  /// A function. In opaque pictures it reads alpha 1, and its changes of alpha are ignored.
  case kernel(Unmanaged<StripKernel>, isOpaque: Bool)
  /// Divides colour by alpha.
  case unpremultiply
  /// Multiplies colour by alpha.
  case premultiply
  /// Limits colour to alpha.
  case limit
  /// Sets alpha to 1.
  case setOpaque
  /// A function of the pixel and of the source frame's pixel.
  case source(SourceStep)
  /// Steps with a result that is mixed with their input, within a rectangle; by alpha if the steps
  /// may change it.
  case group(Unmanaged<StripProgram>, amount: Float, rect: PixelRect?, weighsAlpha: Bool)
  /// A mix with the pass's second input.
  case blend(amount: Float, rect: PixelRect?, premultiplies: Bool)
}

extension StripStep {
  /// The estimated time of a pixel on one thread that kernels from text take.
  fileprivate var kernelNanoseconds: Double {
    switch self {
    case .kernel(let kernel, _):
      unsafe kernel._withUnsafeGuaranteedRef { $0.nanosecondsPerPixel } ?? 0
    case .source(let step): step.nanosecondsPerPixel
    case .group(let program, _, _, _):
      unsafe program._withUnsafeGuaranteedRef { $0.kernelNanoseconds }
    default: 0
    }
  }
}

/// A colour matrix as the C rows take it.
package struct StripMatrix: Sendable {
  /// Four rows of (red, green, blue, alpha, bias).
  private(set) var coefficients = sl_matrix()
  /// Whether alpha does not change.
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

/// A function per colour channel for the 256 values of a byte, computed once with the function's
/// own rows. A lookup replaces the conversion of bytes to floats and the function.
@safe
final class ByteCurves: @unchecked Sendable {  // the entries are written once, in init
  /// For red, green and blue, 256 entries of four floats: the value at the channel's index, and 0.
  private let entries: UnsafeMutablePointer<Float>
  private static let channelFloats = 4 * 256

  /// Computes the tables of a kernel.
  ///
  /// - Precondition: The kernel is a curve.
  init(_ kernel: StripKernel) {
    let count = 3 * Self.channelFloats
    let bytes = UnsafeMutableRawPointer.allocate(
      byteCount: count * MemoryLayout<Float>.stride, alignment: 64)
    unsafe self.entries = bytes.initializeMemory(as: Float.self, repeating: 0, count: count)
    let memory = StripMemory(strips: 1)
    var strip = memory.strip(0, time: FrameTime())
    strip.count = 256
    unsafe strip.forEachChannel { channel in
      for value in 0 ..< 256 { unsafe channel[value] = Float(value) * (1 / 255) }
    }
    kernel.apply(strip)
    var place = 0
    unsafe strip.forEachColor { channel in
      let table = unsafe self.entries + place * Self.channelFloats
      for value in 0 ..< 256 { unsafe table[4 * value + place] = channel[value] }
      place += 1
    }
    extendLifetime(memory)
  }

  deinit {
    unsafe self.entries.deallocate()
  }

  /// The table of a channel: 0 for red, 1 for green, 2 for blue.
  func table(_ channel: Int) -> UnsafePointer<Float> {
    unsafe UnsafePointer(self.entries + channel * Self.channelFloats)
  }
}
