import CKernels
import SidelightKernels

/// The operations of a kernel on single numbers. The graph reuses an existing operation instead of
/// adding it again, and computes operations on constants.
package struct KernelGraph {
  /// A number that the pixels or the frame provide.
  package enum Input: Hashable {
    /// A channel of the pixel: 0 red, 1 green, 2 blue, 3 alpha. Straight colour in kernels of one
    /// pixel, else premultiplied.
    case channel(Int)
    /// A channel of the pixel at an offset; premultiplied.
    case sample(x: Int, y: Int, channel: Int)
    /// A channel of an image's pixel at the same position; premultiplied.
    case image(Int, channel: Int)
    /// The column of the pixel's centre within its strip.
    case column
    /// The column of the strip's first pixel.
    case start
    /// The row of the pixel's centre.
    case row
    /// The time of the frame in seconds.
    case time
    /// The number of the frame.
    case frame
    /// An unknown number, the same for all pixels: a parameter's component or the frame's size,
    /// when a text is checked.
    case unknown(Int)
  }

  /// The index of a node.
  package typealias Index = Int

  package enum Node: Hashable {
    case constant(Double)
    case input(Input)
    /// An operation; existing operands replace missing ones.
    case operation(KernelOperation, Index, Index, Index)
    /// The pixel of a picture (0, or an image from 1) at a position, as the channels that refer to
    /// it; premultiplied.
    case read(Int, Index, Index)
    case channel(Int, of: Index)
  }

  /// The most variable of the values on which a number depends.
  enum Variability: Int, Comparable {
    case constant
    /// The parameters and the size of frames.
    case plan
    /// The frame's time, the row, and the strip of pixels.
    case row
    case pixel

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }

  package private(set) var nodes: [Node] = []
  private(set) var variability: [Variability] = []
  /// The maximum magnitude per node, if the inputs are finite; infinite if it is unbounded or
  /// unknown.
  private(set) var magnitudes: [Double] = []
  private var indices: [Node: Index] = [:]
  /// The constant that is not a number, if the graph has one.
  private var notANumber: Index?

  /// The magnitude up to which a program's results don't need a limit.
  static let greatestMagnitude = 1e30
  /// The magnitude of colours within which all filters stay.
  private static let inputMagnitude = 1e6

  // MARK: Nodes

  mutating func constant(_ value: Double) -> Index {
    // NaN is not equal to itself, so a dictionary does not find it.
    if value.isNaN, let notANumber { return notANumber }
    // Zeros are equal, and a dictionary would keep the first.
    let index = self.insert(.constant(value == 0 ? 0 : value), .constant, abs(value))
    if value.isNaN { self.notANumber = index }
    return index
  }

  mutating func input(_ input: Input, magnitude: Double? = nil) -> Index {
    let variability: Variability =
      switch input {
      case .channel, .sample, .image, .column: .pixel
      case .start, .row, .time, .frame: .row
      case .unknown: .plan
      }
    return self.insert(.input(input), variability, magnitude ?? Self.inputMagnitude)
  }

  /// Returns a channel of the pixel at an offset.
  mutating func neighbor(x: Int, y: Int, channel: Int) -> Index {
    self.input(x == 0 && y == 0 ? .channel(channel) : .sample(x: x, y: y, channel: channel))
  }

  /// Returns the channels of a picture's pixel at a position.
  mutating func read(_ picture: Int, _ x: Index, _ y: Index) -> [Index] {
    let pixel = self.insert(.read(picture, x, y), .pixel, Self.inputMagnitude)
    return (0 ..< 4).map { self.insert(.channel($0, of: pixel), .pixel, Self.inputMagnitude) }
  }

  /// Returns the maximum distance of a read from a position, in pixels: infinite if it is unknown,
  /// because the read's position is not the sum of the position and a bounded number.
  func distance(of read: (x: Index, y: Index), from position: [Index]) -> Double {
    func distance(_ index: Index, _ origin: Index) -> Double {
      if index == origin { return 0 }
      switch self.nodes[index] {
      case .operation(.add, let a, let b, _) where a == origin: return self.magnitudes[b]
      case .operation(.add, let a, let b, _) where b == origin: return self.magnitudes[a]
      case .operation(.subtract, let a, let b, _) where a == origin: return self.magnitudes[b]
      default: return .infinity
      }
    }
    return max(distance(read.x, position[0]), distance(read.y, position[1]))
  }

  /// Returns the value of a node that is constant; `nil` for others.
  func constantValue(_ index: Index) -> Double? {
    if case .constant(let value) = self.nodes[index] { value } else { nil }
  }

  mutating func apply(_ operation: KernelOperation, _ a: Index) -> Index {
    self.apply(operation, a, a, a)
  }

  mutating func apply(_ operation: KernelOperation, _ a: Index, _ b: Index) -> Index {
    self.apply(operation, a, b, a)
  }

  mutating func apply(
    _ operation: KernelOperation, _ a: Index, _ b: Index, _ c: Index
  ) -> Index {
    let values = [a, b, c].compactMap(self.constantValue)
    if values.count == 3 {
      return self.constant(operation.constant(values[0], values[1], values[2]))
    }
    if let simple = self.simplified(operation, a, b, c) { return simple }
    var (a, b) = (a, b)
    if operation.commutes, a > b { swap(&a, &b) }
    let magnitudes = [a, b, c].map { self.magnitudes[$0] }
    return self.insert(
      .operation(operation, a, b, operation.operandCount == 3 ? c : a),
      [a, b, c].map { self.variability[$0] }.max() ?? .pixel,
      operation.magnitude(
        magnitudes[0], magnitudes[1], magnitudes[2], divisor: self.constantValue(b)))
  }

  /// Returns a simpler node with the same value as an operation. Only if the operands are finite:
  /// zero times infinity is not zero.
  private mutating func simplified(
    _ operation: KernelOperation, _ a: Index, _ b: Index, _ c: Index
  ) -> Index? {
    let (left, right, third) = (
      self.constantValue(a), self.constantValue(b), self.constantValue(c)
    )
    func isFinite(_ index: Index) -> Bool { self.magnitudes[index].isFinite }
    switch operation {
    case .add:
      return left == 0 ? b : right == 0 ? a : nil
    case .subtract:
      return right == 0 ? a : a == b && isFinite(a) ? self.constant(0) : nil
    case .multiply:
      if left == 1 { return b }
      if right == 1 { return a }
      if let product = self.premultiplied(a, by: b) ?? self.premultiplied(b, by: a) {
        return product
      }
      return left == 0 && isFinite(b) || right == 0 && isFinite(a) ? self.constant(0) : nil
    case .divide:
      if right == 1 { return a }
      // A product, where the divisor's inverse is exact: a power of two.
      guard let right, (1e-30 ... 1e30).contains(abs(right)), abs(right).significand == 1 else {
        return nil
      }
      return self.apply(.multiply, a, self.constant(1 / right))
    case .mix:
      if third == 1, isFinite(a) { return b }
      return (third == 0 && isFinite(b)) || a == b && isFinite(a) ? a : nil
    case .min, .max:
      return a == b ? a : nil
    case .select:
      return left.map { $0 != 0 ? b : c } ?? (b == c ? b : nil)
    default:
      return nil
    }
  }

  /// Returns the premultiplied channel of which a node is the straight one, if the factor is its
  /// alpha: `premultiply(sample(...))` does not divide. `nil` for other nodes.
  private func premultiplied(_ straight: Index, by alpha: Index) -> Index? {
    guard case .operation(.multiply, let a, let b, _) = self.nodes[straight] else { return nil }
    func isInverse(_ index: Index) -> Bool {
      guard case .operation(.select, let test, let inverse, let other) = self.nodes[index],
        case .operation(.less, let low, alpha, _) = self.nodes[test],
        case .operation(.divide, let one, alpha, _) = self.nodes[inverse]
      else { return false }
      return [low, one, other].map(self.constantValue) == [0, 1, 0]
    }
    // Premultiplied channels are 0 where alpha is.
    return isInverse(b) ? a : isInverse(a) ? b : nil
  }

  private mutating func insert(
    _ node: Node, _ variability: Variability, _ magnitude: Double
  ) -> Index {
    if let known = self.indices[node] { return known }
    self.nodes.append(node)
    self.variability.append(variability)
    self.magnitudes.append(magnitude < Self.greatestMagnitude ? magnitude : .infinity)
    self.indices[node] = self.nodes.count - 1
    return self.nodes.count - 1
  }
}

extension KernelGraph {
  /// The inputs on which each node depends: a bit per channel of the pixel, and one for all others.
  private var dependencies: [UInt8] {
    var masks: [UInt8] = []
    masks.reserveCapacity(self.nodes.count)
    for node in self.nodes {
      switch node {
      case .constant: masks.append(0)
      case .input(.channel(let channel)): masks.append(1 << UInt8(channel))
      case .input, .read, .channel: masks.append(16)
      case .operation(_, let a, let b, let c): masks.append(masks[a] | masks[b] | masks[c])
      }
    }
    return masks
  }

  /// Whether results are functions of the pixel's red, green and blue, and alpha does not change.
  func isPixelFunction(_ results: [Index]) -> Bool {
    let masks = self.dependencies
    return self.nodes[results[3]] == .input(.channel(3))
      && results.prefix(3).allSatisfy { masks[$0] & ~7 == 0 }
  }

  /// Whether each of red, green and blue is a function of itself, and alpha does not change.
  func isChannelwise(_ results: [Index]) -> Bool {
    let masks = self.dependencies
    return self.nodes[results[3]] == .input(.channel(3))
      && (0 ..< 3).allSatisfy { masks[results[$0]] & ~(1 << UInt8($0)) == 0 }
  }

  /// Returns nodes as an affine function of the pixel's four channels; `nil` if a node isn't
  /// affine.
  func affineMap(of results: [Index]) -> ColorMatrix? {
    var forms: [Index: (weights: SIMD4<Double>, bias: Double)] = [:]
    for (index, node) in self.nodes.enumerated() {
      switch node {
      case .constant(let value) where value.isFinite: forms[index] = (.zero, value)
      case .input(.channel(let channel)):
        var weights = SIMD4<Double>.zero
        weights[channel] = 1
        forms[index] = (weights, 0)
      case .operation(let operation, let a, let b, let c):
        guard let x = forms[a], let y = forms[b], let z = forms[c] else { continue }
        switch operation {
        case .copy: forms[index] = x
        case .negate: forms[index] = (-x.weights, -x.bias)
        case .add: forms[index] = (x.weights + y.weights, x.bias + y.bias)
        case .subtract: forms[index] = (x.weights - y.weights, x.bias - y.bias)
        case .multiply where x.weights == .zero:
          forms[index] = (y.weights * x.bias, y.bias * x.bias)
        case .multiply where y.weights == .zero:
          forms[index] = (x.weights * y.bias, x.bias * y.bias)
        case .divide where y.weights == .zero && y.bias != 0:
          forms[index] = (x.weights / y.bias, x.bias / y.bias)
        case .mix where z.weights == .zero:
          forms[index] = (
            x.weights + (y.weights - x.weights) * z.bias, x.bias + (y.bias - x.bias) * z.bias
          )
        default: break
        }
      default: break
      }
    }
    let rows = results.compactMap { forms[$0] }
    guard rows.count == 4,
      rows.allSatisfy({ row in
        row.bias.magnitude <= 1e6 && (0 ..< 4).allSatisfy { row.weights[$0].magnitude <= 1e6 }
      })
    else { return nil }
    return ColorMatrix(
      red: rows[0].weights, green: rows[1].weights, blue: rows[2].weights,
      alpha: rows[3].weights,
      bias: [rows[0].bias, rows[1].bias, rows[2].bias, rows[3].bias])
  }
}
