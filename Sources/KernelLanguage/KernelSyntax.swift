import SidelightKernels

/// An expression of a kernel, as parsed.
struct KernelExpression: Sendable {
  /// The kind of an expression, with its parts.
  indirect enum Kind: Sendable {
    case number(Double)
    case color([Double])
    case flag(Bool)
    case name(String)
    /// `-` or `!`.
    case unary(String, KernelExpression)
    case binary(String, KernelExpression, KernelExpression)
    /// A condition, and the values if it is true and false.
    case choice(KernelExpression, KernelExpression, KernelExpression)
    case call(String, [KernelExpression])
    /// The components that are selected: `rgb`.
    case components(KernelExpression, String, at: Int)
  }

  let kind: Kind
  /// The offset in the text: of an operator, or of the first byte.
  let offset: Int
  /// The maximum number of expressions from this one to one without parts.
  let depth: Int

  init(kind: Kind, offset: Int) {
    self.kind = kind
    self.offset = offset
    let parts: [KernelExpression] =
      switch kind {
      case .number, .color, .flag, .name: []
      case .unary(_, let part), .components(let part, _, _): [part]
      case .binary(_, let left, let right): [left, right]
      case .choice(let condition, let first, let second): [condition, first, second]
      case .call(_, let arguments): arguments
      }
    self.depth = 1 + (parts.map(\.depth).max() ?? 0)
  }
}

/// A named value within a kernel.
struct KernelBinding: Sendable {
  let name: String
  let value: KernelExpression
}

struct KernelParameter: Sendable {
  /// The value without a call's.
  enum Default: Sendable {
    case number(Double)
    case flag(Bool)
    /// Two to four numbers.
    case vector([Double])
    /// Four channels.
    case color([Double])
  }

  let name: String
  let defaultValue: Default
  /// The accepted values; `nil` for parameters of other filters.
  let range: ClosedRange<Double>?
  let summary: String

  /// The description for clients.
  var description: ParameterDescription {
    switch self.defaultValue {
    case .number(let number):
      ParameterDescription(
        self.name, .number, default: .number(number), slider: self.range, limits: self.range,
        self.summary)
    case .flag(let flag):
      ParameterDescription(self.name, .flag, default: .flag(flag), self.summary)
    case .vector(let numbers):
      ParameterDescription(
        self.name, .vector(count: numbers.count), default: .vector(numbers), slider: self.range,
        limits: self.range, self.summary)
    case .color(let channels):
      ParameterDescription(
        self.name, .color,
        default: .color(
          RGBAColor(
            red: channels[0], green: channels[1], blue: channels[2], alpha: channels[3])),
        self.summary)
    }
  }

  /// The components of the default.
  var defaultComponents: [Double] {
    switch self.defaultValue {
    case .number(let number): [number]
    case .flag(let flag): [flag ? 1 : 0]
    case .vector(let numbers), .color(let numbers): numbers
    }
  }

  /// The type of the parameter's name in expressions.
  var type: KernelType {
    switch self.defaultValue {
    case .number: .number
    case .flag: .flag
    case .vector(let numbers): .vector(numbers.count)
    case .color: .vector(4)
    }
  }
}

/// The type of an expression.
enum KernelType: Sendable, Hashable, CustomStringConvertible {
  case flag
  case number
  /// Two to four numbers.
  case vector(Int)

  /// The number of components.
  var count: Int {
    if case .vector(let count) = self { count } else { 1 }
  }

  /// Whether it has numbers.
  var isNumeric: Bool { self != .flag }

  /// The type of that many numbers.
  init(count: Int) { self = count == 1 ? .number : .vector(count) }

  /// The name in errors and in the reference: `vec3`.
  var description: String {
    switch self {
    case .flag: "bool"
    case .number: "float"
    case .vector(let count): "vec\(count)"
    }
  }
}
