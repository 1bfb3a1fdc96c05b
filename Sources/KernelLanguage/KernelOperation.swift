import CKernels

/// An operation of kernel programs on single numbers.
package enum KernelOperation: UInt8, CaseIterable {
  // The order of `sl_kernel_operation`.
  case copy, negate, abs, sign, floor, fract, sqrt, exp2, log2, sin, cos, finite
  case add, subtract, multiply, divide, min, max, mod, pow, step, atan2, less, lessOrEqual, equal
  case hash
  case multiplyAdd, mix, clamp, smooth, select

  var operandCount: Int {
    self.rawValue < Self.add.rawValue ? 1 : self.rawValue < Self.multiplyAdd.rawValue ? 2 : 3
  }

  /// Whether the operands can be exchanged, also for signed zeros and NaN.
  var commutes: Bool { self == .add || self == .multiply || self == .equal }

  /// The estimated time of one number with AVX2, in nanoseconds; measured.
  var nanoseconds: Double {
    switch self {
    case .copy, .negate, .abs, .sign: 0.04
    case .floor, .fract, .smooth: 0.09
    case .sqrt, .mod: 0.16
    case .divide: 0.1
    case .exp2, .log2: 0.27
    case .sin, .cos: 0.42
    case .pow, .atan2: 0.9
    case .hash: 0.2
    default: 0.06
    }
  }

  /// The value for numbers that are known when a program is compiled. Functions without an exact
  /// result are computed by using the portable rows, in single precision: a machine's mathematical
  /// library may differ from another's.
  package func constant(_ a: Double, _ b: Double, _ c: Double) -> Double {
    switch self {
    case .exp2, .log2, .sin, .cos, .pow, .atan2:
      Double(Self.portableValue(self, Float(a), Float(b)))
    case .copy: a
    case .negate: -a
    case .abs: a.magnitude
    case .sign: a > 0 ? 1 : a < 0 ? -1 : 0
    case .floor: a.rounded(.down)
    case .fract: a - a.rounded(.down)
    case .sqrt: a > 0 ? a.squareRoot() : 0
    case .finite: a.isNaN ? 0 : Swift.min(Swift.max(a, -65504), 65504)
    case .add: a + b
    case .subtract: a - b
    case .multiply: a * b
    case .divide: a / b
    case .min: b < a ? b : a
    case .max: a < b ? b : a
    case .mod: a - b * (a / b).rounded(.down)
    case .step: b < a ? 0 : 1
    case .less: a < b ? 1 : 0
    case .lessOrEqual: a <= b ? 1 : 0
    case .equal: a == b ? 1 : 0
    case .hash: Double(Self.hash(Float(a), Float(b)))
    case .multiplyAdd: a * b + c
    case .mix: a + (b - a) * c
    case .clamp: Self.limited(a, b, c)
    case .smooth: Self.smoothed((a - b) * c)
    case .select: a != 0 ? b : c
    }
  }

  private static func portableValue(
    _ operation: KernelOperation, _ a: Float, _ b: Float
  ) -> Float {
    guard let rows = unsafe sl_rows_named("portable") else { return .nan }
    var step = sl_kernel_step(
      operation: operation.rawValue, singles: 0, out: 0, a: 1, b: 2, c: 1)
    // The result, and the operands, as the channels of one pixel.
    return unsafe withUnsafeTemporaryAllocation(of: Float.self, capacity: 4) { values in
      unsafe withUnsafeTemporaryAllocation(of: UnsafeMutablePointer<Float>.self, capacity: 4) {
        strip in
        let first = unsafe values.baseAddress.unsafelyUnwrapped
        for (index, value) in [Float.nan, a, b, .nan].enumerated() {
          unsafe values.initializeElement(at: index, to: value)
          unsafe strip.initializeElement(at: index, to: first + index)
        }
        unsafe withUnsafeMutablePointer(to: &step) { step in
          var program = unsafe sl_kernel_program(
            steps: step, single_steps: 0, row_steps: 1, constants: first, inputs: 0, rows: 0,
            constant_count: 0, single_inputs: 0, singles: 0)
          unsafe rows.pointee.run_kernel(
            &program, strip.baseAddress.unsafelyUnwrapped, nil, first, nil, 1)
        }
        return unsafe values[0]
      }
    }
  }

  private static func hash(_ a: Float, _ b: Float) -> Float {
    func bits(_ x: Float) -> UInt32 { x.isNaN || x == 0 ? 0 : x.bitPattern }
    let k = bits(b)
    var h = bits(a)
    h = (h ^ h >> 16) &* 0x9e37_79b1
    h = (h ^ h >> 15) &+ (k ^ k >> 16) &* 0x85eb_ca77
    h = (h ^ h >> 13) &* 0xc2b2_ae3d
    h = (h ^ h >> 16) &* 0x27d4_eb2f
    h ^= h >> 15
    return Float(h >> 8) * 0x1p-24
  }

  private static func limited(_ x: Double, _ low: Double, _ high: Double) -> Double {
    let raised = x < low ? low : x
    return high < raised ? high : raised
  }

  private static func smoothed(_ t: Double) -> Double {
    let t = t > 0 ? t < 1 ? t : 1 : 0
    return t * t * (3 - 2 * t)
  }

  /// The maximum magnitude of the result, for operands up to these magnitudes; infinite if it is
  /// not known.
  ///
  /// - Parameter divisor: The second operand if it is constant.
  func magnitude(_ a: Double, _ b: Double, _ c: Double, divisor: Double?) -> Double {
    switch self {
    case .copy, .negate, .abs, .floor: a + 1
    case .sign, .step, .less, .lessOrEqual, .equal, .smooth, .sin, .cos, .hash: 1
    case .fract: a.isFinite ? 1 : .infinity
    case .sqrt: Swift.max(1, a)
    case .exp2: a < 99 ? 0x1p99 : .infinity
    case .log2: 128
    case .pow:
      divisor.map { $0 >= 0 ? power(Swift.max(a, 1), $0) : .infinity } ?? .infinity
    case .atan2: (a + b).isFinite ? 4 : .infinity
    case .finite: 65504
    case .add, .subtract: a + b
    case .multiply: a * b
    case .divide: divisor.map { $0 == 0 ? .infinity : a / $0.magnitude } ?? .infinity
    case .mod: divisor.map { $0 != 0 && a / $0.magnitude < 1e30 ? b : .infinity } ?? .infinity
    case .min, .max: Swift.max(a, b)
    case .multiplyAdd: a * b + c
    case .mix: a + (a + b) * c
    case .clamp: a.isFinite ? Swift.max(b, c) : .infinity
    case .select: Swift.max(b, c)
    }
  }
}

/// The power function of the mathematical library, for bounds.
private func power(_ x: Double, _ y: Double) -> Double { pow(x, y) }
