import SidelightKernels

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A position in a picture.
struct KernelPosition {
  var x: Int
  var y: Int
}

/// A picture of red, green and blue in 8 bits.
struct KernelPicture {
  let size: FrameSize
  let samples: [UInt8]

  /// The colour at a position; beyond the edges, that at the edge.
  func color(_ position: KernelPosition) -> [Double] {
    let x = min(max(position.x, 0), self.size.width - 1)
    let y = min(max(position.y, 0), self.size.height - 1)
    let start = 3 * (y * self.size.width + x)
    return self.samples[start ..< start + 3].map { Double($0) / 255 }
  }
}

/// A random expression of three channels, which prints itself and computes itself in double
/// precision by walking its tree.
indirect enum RandomKernel {
  case number(Double)
  case color
  case sample(dx: Int, dy: Int)
  case luma(RandomKernel)
  case x
  case y
  case swizzled(RandomKernel)
  case unary(String, RandomKernel)
  case binary(String, RandomKernel, RandomKernel)
  case ternary(String, RandomKernel, RandomKernel, RandomKernel)
  /// Compares the reds of two values.
  case choice(RandomKernel, RandomKernel, RandomKernel, RandomKernel)

  private static let unary = [
    "-", "abs", "sign", "floor", "ceil", "fract", "sqrt", "exp", "log", "sin", "cos", "saturate",
    "radians", "atan", "normalize", "length",
  ]
  private static let binary = ["+", "-", "*", "/", "min", "max", "mod", "pow", "step", "dot"]
  private static let ternary = ["clamp", "mix", "smoothstep"]

  /// Returns a random kernel.
  static func make(
    _ random: inout TestRandom, depth: Int = 4, readsNeighbors: Bool = true
  ) -> RandomKernel {
    func part() -> RandomKernel {
      Self.make(&random, depth: depth - 1, readsNeighbors: readsNeighbors)
    }
    let kind = Int.random(in: 0 ... (depth > 0 ? 11 : 3), using: &random)
    switch kind {
    case 0: return .number((Double.random(in: -2 ... 3, using: &random) * 64).rounded() / 64)
    case 1: return .color
    case 2 where readsNeighbors:
      return .sample(
        dx: Int.random(in: -3 ... 3, using: &random), dy: Int.random(in: -3 ... 3, using: &random))
    case 2: return .color
    case 3: return Bool.random(using: &random) ? .x : .y
    case 4: return .luma(part())
    case 5: return .swizzled(part())
    case 6, 7: return .unary(Self.unary.randomElement(using: &random) ?? "-", part())
    case 8:
      return .ternary(Self.ternary.randomElement(using: &random) ?? "mix", part(), part(), part())
    case 9: return .choice(part(), part(), part(), part())
    default: return .binary(Self.binary.randomElement(using: &random) ?? "+", part(), part())
    }
  }

  /// The text. Every expression is a vec3.
  var text: String {
    switch self {
    case .number(let number): "vec3(\(number))"
    case .color: "color.rgb"
    case .sample(let dx, let dy): "sample(\(dx), \(dy)).rgb"
    case .luma(let a): "vec3(luma(\(a.text)))"
    case .x: "vec3(uv.x)"
    case .y: "vec3(position.y / size.y)"
    case .swizzled(let a): "(\(a.text)).brg"
    case .unary("-", let a): "(-\(a.text))"
    case .unary("length", let a): "vec3(length(\(a.text)))"
    case .unary(let name, let a): "\(name)(\(a.text))"
    case .binary("dot", let a, let b): "vec3(dot(\(a.text), \(b.text)))"
    case .binary(let name, let a, let b):
      ["+", "-", "*", "/"].contains(name)
        ? "(\(a.text) \(name) \(b.text))" : "\(name)(\(a.text), \(b.text))"
    case .ternary(let name, let a, let b, let c): "\(name)(\(a.text), \(b.text), \(c.text))"
    case .choice(let a, let b, let c, let d):
      "((\(a.text)).r < (\(b.text)).r ? \(c.text) : \(d.text))"
    }
  }

  /// Computes the kernel at a position.
  ///
  /// - Returns: `nil` if single precision may differ visibly: near a jump, for large numbers, and
  ///   where a value is very sensitive to its operands.
  func value(_ picture: KernelPicture, _ position: KernelPosition) -> [Double]? {
    func value(_ a: RandomKernel) -> [Double]? { a.value(picture, position) }
    switch self {
    case .number(let number): return [number, number, number]
    case .color: return picture.color(position)
    case .sample(let dx, let dy):
      return picture.color(KernelPosition(x: position.x + dx, y: position.y + dy))
    case .x:
      let x = (Double(position.x) + 0.5) / Double(picture.size.width)
      return [x, x, x]
    case .y:
      let y = (Double(position.y) + 0.5) / Double(picture.size.height)
      return [y, y, y]
    case .luma(let a):
      guard let a = value(a) else { return nil }
      let y = 0.2126 * a[0] + 0.7152 * a[1] + 0.0722 * a[2]
      return [y, y, y]
    case .swizzled(let a):
      guard let a = value(a) else { return nil }
      return [a[2], a[0], a[1]]
    case .unary("normalize", let a), .unary("length", let a):
      guard let a = value(a) else { return nil }
      let length = (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]).squareRoot()
      guard length > 1e-2 else { return nil }
      if case .unary("length", _) = self { return [length, length, length] }
      return a.map { $0 / length }
    case .unary(let name, let a):
      guard let a = value(a) else { return nil }
      return Self.collect(a.map { Self.unary(name, $0) })
    case .binary("dot", let a, let b):
      guard let a = value(a), let b = value(b) else { return nil }
      let product = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
      return Self.collect([product, product, product])
    case .binary(let name, let a, let b):
      guard let a = value(a), let b = value(b) else { return nil }
      return Self.collect((0 ..< 3).map { Self.binary(name, a[$0], b[$0]) })
    case .ternary(let name, let a, let b, let c):
      guard let a = value(a), let b = value(b), let c = value(c) else { return nil }
      return Self.collect((0 ..< 3).map { Self.ternary(name, a[$0], b[$0], c[$0]) })
    case .choice(let a, let b, let c, let d):
      guard let a = value(a), let b = value(b), let c = value(c), let d = value(d),
        abs(a[0] - b[0]) > 1e-4
      else { return nil }
      return a[0] < b[0] ? c : d
    }
  }

  /// Returns the numbers if all are present and small.
  private static func collect(_ numbers: [Double?]) -> [Double]? {
    let values = numbers.compactMap { $0 }
    guard values.count == 3, values.allSatisfy({ abs($0) < 50 }) else { return nil }
    return values
  }

  /// Returns nil within 1e-4 of a whole number.
  private static func whole(_ x: Double) -> Double? {
    abs(x - x.rounded()) < 1e-4 ? nil : x.rounded(.down)
  }

  private static func unary(_ name: String, _ a: Double) -> Double? {
    switch name {
    case "-": return -a
    case "abs": return abs(a)
    case "sign": return abs(a) < 1e-4 ? nil : a > 0 ? 1 : -1
    case "floor": return Self.whole(a)
    case "ceil": return Self.whole(a).map { $0 + 1 }
    case "fract": return Self.whole(a).map { a - $0 }
    case "sqrt": return a < 1e-3 ? a < -1e-4 ? 0 : nil : sqrt(a)
    case "exp": return exp(a)
    case "log": return a < 1e-2 ? nil : log(a)
    case "sin": return sin(a)
    case "cos": return cos(a)
    case "saturate": return min(max(a, 0), 1)
    case "radians": return a * .pi / 180
    default: return atan(a)
    }
  }

  private static func binary(_ name: String, _ a: Double, _ b: Double) -> Double? {
    switch name {
    case "+": return a + b
    case "-": return a - b
    case "*": return a * b
    case "/": return abs(b) < 5e-2 ? nil : a / b
    case "min": return min(a, b)
    case "max": return max(a, b)
    case "mod": return abs(b) < 5e-2 ? nil : Self.whole(a / b).map { a - b * $0 }
    case "pow": return a < 1e-2 ? a < -1e-4 ? 0 : nil : abs(b) < 8 ? pow(a, b) : nil
    default: return abs(b - a) < 1e-4 ? nil : b < a ? 0 : 1
    }
  }

  private static func ternary(
    _ name: String, _ a: Double, _ b: Double, _ c: Double
  ) -> Double? {
    switch name {
    case "clamp": return min(max(a, b), c)
    case "mix": return a + (b - a) * c
    default:
      guard abs(b - a) > 5e-2 else { return nil }
      let t = min(max((c - a) / (b - a), 0), 1)
      return t * t * (3 - 2 * t)
    }
  }
}
