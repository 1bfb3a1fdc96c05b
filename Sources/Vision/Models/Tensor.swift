/// The name and the size of an input or output of a model.
public struct TensorShape: Sendable, Hashable, CustomStringConvertible {
  /// The name in the model.
  public let name: String
  /// The dimensions, the slowest first; at least 1.
  public let dimensions: [Int]

  /// Creates a shape.
  public init(name: String, dimensions: [Int]) {
    self.name = name
    self.dimensions = dimensions
  }

  /// The number of values.
  public var count: Int { self.dimensions.reduce(1, *) }

  /// The name and the dimensions, as in `input 1x3x144x256`.
  public var description: String {
    "\(self.name) \(self.dimensions.map(String.init).joined(separator: "x"))"
  }
}

/// An array of floats in row-major order.
public struct Tensor: Sendable, Hashable {
  /// The dimensions, the slowest first; at least 1.
  public let dimensions: [Int]
  /// The values; the last dimension is the fastest.
  public let values: [Float]

  /// Creates a tensor.
  ///
  /// - Precondition: `values.count` is the product of the dimensions.
  public init(dimensions: [Int], values: [Float]) {
    precondition(values.count == dimensions.reduce(1, *))
    self.dimensions = dimensions
    self.values = values
  }

  /// Creates a tensor with one value everywhere.
  public init(_ shape: TensorShape, repeating value: Float = 0) {
    self.init(
      dimensions: shape.dimensions, values: [Float](repeating: value, count: shape.count))
  }
}
