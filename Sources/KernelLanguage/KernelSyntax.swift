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
    case array([KernelExpression])
    /// An element of an array or a vector, and its index.
    case element(KernelExpression, KernelExpression)
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
      case .binary(_, let left, let right), .element(let left, let right): [left, right]
      case .choice(let condition, let first, let second): [condition, first, second]
      case .call(_, let arguments), .array(let arguments): arguments
      }
    self.depth = 1 + (parts.map(\.depth).max() ?? 0)
  }
}

/// A statement of a kernel, as parsed.
struct KernelStatement: Sendable {
  /// The kind of a statement, with its parts.
  indirect enum Kind: Sendable {
    /// `let`, or `var` for a value that assignments may change.
    case binding(String, KernelExpression, isVariable: Bool)
    case assignment(String, KernelExpression)
    /// Statements for every value of a name.
    case loop(String, Range<Int>, [KernelStatement])
    /// Statements if a condition is true, and if it is false.
    case choice(KernelExpression, [KernelStatement], [KernelStatement])
  }

  let kind: Kind
  /// The offset of the first byte in the text.
  let offset: Int
}

/// A function of a kernel: `func name(a: float) -> vec3 { statements return value }`.
struct KernelFunction: Sendable {
  struct Parameter: Sendable {
    let name: String
    let type: KernelType
  }

  let name: String
  let parameters: [Parameter]
  let type: KernelType
  let body: [KernelStatement]
  let value: KernelExpression
}

/// A further picture of a kernel: `image background "The background."`.
struct KernelImage: Sendable {
  /// The name of the parameter.
  let parameter: String
  /// The name in expressions.
  let name: String
  let summary: String
  /// Whether it may be the source frame: the kernel reads it at the pixel's position only.
  var acceptsSource = true

  /// The description for clients.
  var description: ParameterDescription {
    ParameterDescription(
      self.parameter, .asset, default: nil, assetKind: .image, acceptsSource: self.acceptsSource,
      self.summary)
  }
}

struct KernelParameter: Sendable {
  /// The value without a call's.
  enum Default: Sendable {
    case number(Double)
    case flag(Bool)
    /// Numbers: a vector if they are two to four, else an array.
    case vector([Double])
    /// Four channels.
    case color([Double])
    /// A length, which is a number of pixels in expressions.
    case length(Length)
    /// A position, which is two numbers of pixels in expressions.
    case point(FramePoint)

    var isLength: Bool { if case .length = self { true } else { false } }

    /// Whether values may be multiples of the frame's size.
    var isRelative: Bool {
      switch self {
      case .length, .point: true
      case .number, .flag, .vector, .color: false
      }
    }
  }

  let name: String
  /// The name in expressions, if it is another one.
  let alias: String?
  let defaultValue: Default
  let unit: ParameterDescription.Unit
  /// The accepted values; `nil` for parameters of other filters.
  let range: ClosedRange<Double>?
  /// The range of a slider; `nil` for the accepted values.
  let slider: ClosedRange<Double>?
  let summary: String

  /// The range of values in pixels; `nil` where they may be multiples of the frame's size.
  var pixelRange: ClosedRange<Double>? { self.defaultValue.isRelative ? nil : self.range }

  /// The description for clients.
  var description: ParameterDescription {
    let (kind, value): (ParameterDescription.Kind, ParameterValue) =
      switch self.defaultValue {
      case .number(let number): (.number, .number(number))
      case .flag(let flag): (.flag, .flag(flag))
      case .vector(let numbers): (.vector(count: numbers.count), .vector(numbers))
      case .color(let channels):
        (
          .color,
          .color(
            RGBAColor(
              red: channels[0], green: channels[1], blue: channels[2], alpha: channels[3]))
        )
      case .length(let length):
        (.length, length.unit == .pixels ? .number(length.value) : .length(length))
      case .point(let point): (.point, .point(point))
      }
    return ParameterDescription(
      self.name, kind, default: value, slider: self.slider ?? self.range, limits: self.range,
      unit: self.unit, self.summary)
  }

  var defaultNumbers: [Double] {
    switch self.defaultValue {
    case .number(let number): [number]
    case .flag(let flag): [flag ? 1 : 0]
    case .vector(let numbers), .color(let numbers): numbers
    case .length(let length): [length.value]
    case .point(let point): [point.x.value, point.y.value]
    }
  }

  /// Returns the components of a value in frames of a size: the default's if the parameter doesn't
  /// take values of its kind.
  func components(of value: ParameterValue?, in size: FrameSize) -> [Double] {
    let components: [Double] =
      switch value {
      case .number(let number)?: [number]
      case .flag(let flag)?: [flag ? 1 : 0]
      case .vector(let numbers)?: numbers
      case .color(let color)?: [color.red, color.green, color.blue, color.alpha]
      case .length(let length)?: [length.pixels(in: size)]
      case .point(let point)?: [point.x.pixels(in: size), point.y.pixels(in: size)]
      case .text?, nil: []
      }
    if components.count == self.type.count { return components }
    return self.components(of: self.description.defaultValue, in: size)
  }

  /// The type of the parameter's name in expressions.
  var type: KernelType {
    switch self.defaultValue {
    case .number, .length: .number
    case .flag: .flag
    case .vector(let numbers):
      (2 ... 4).contains(numbers.count)
        ? .vector(numbers.count) : .array(.number, numbers.count)
    case .color: .vector(4)
    case .point: .vector(2)
    }
  }
}

/// The type of an expression.
indirect enum KernelType: Sendable, Hashable, CustomStringConvertible {
  case flag
  case number
  /// Two to four numbers.
  case vector(Int)
  case array(KernelType, Int)

  /// The number of components.
  var count: Int {
    switch self {
    case .flag, .number: 1
    case .vector(let count): count
    case .array(let type, let count): type.count * count
    }
  }

  /// Whether it is a number or a vector.
  var isNumeric: Bool {
    switch self {
    case .number, .vector: true
    case .flag, .array: false
    }
  }

  /// The types that functions name.
  static let named: [String: KernelType] = [
    "float": .number, "vec2": .vector(2), "vec3": .vector(3), "vec4": .vector(4), "bool": .flag,
  ]

  /// The type of that many numbers.
  init(count: Int) { self = count == 1 ? .number : .vector(count) }

  /// The name in errors and in the reference: `vec3`.
  var description: String {
    switch self {
    case .flag: "bool"
    case .number: "float"
    case .vector(let count): "vec\(count)"
    case .array(let type, let count): "array of \(count) \(type)"
    }
  }
}

/// The names that the language defines.
enum KernelNames {
  /// The named values.
  static let values = ["color", "position", "size", "uv", "time", "frame", "pi", "isOpaque"]

  /// The functions of one number that apply to every component.
  static let unary = [
    "abs", "sign", "floor", "ceil", "round", "fract", "sqrt", "inversesqrt", "exp", "exp2", "log",
    "log2", "sin", "cos", "tan", "radians", "degrees", "saturate",
  ]

  /// The functions of two numbers that apply to every component.
  static let binary = ["min", "max", "mod", "pow", "step"]

  /// The functions of three numbers that apply to every component.
  static let ternary = ["clamp", "mix", "smoothstep"]

  /// The functions with arguments of other kinds.
  static let others = [
    "atan", "dot", "length", "distance", "normalize", "cross", "luma", "sample", "sampleAt", "hash",
    "float", "vec2", "vec3", "vec4",
  ]

  /// The functions that the compiler knows.
  static let functions = Self.unary + Self.binary + Self.ternary + Self.others

  static let allFunctions = Self.functions + KernelLibrary.functions.map(\.name)

  /// The names in other shading languages, and the names in this language.
  private static let aliases = [
    "lerp": "mix", "frac": "fract", "rsqrt": "inversesqrt", "fmod": "mod", "atan2": "atan",
    "float2": "vec2", "float3": "vec3", "float4": "vec4", "texture": "sample",
    "texture2D": "sample", "tex": "sample", "luminance": "luma", "gray": "luma", "coord": "uv",
    "destCoord": "position", "gl_FragCoord": "position", "fragCoord": "position", "rgb": "color",
    "rgba": "color", "pixel": "color", "resolution": "size", "iTime": "time",
    "iResolution": "size", "PI": "pi", "samplerCoord": "position", "random": "hash",
    "srgb_to_linear": "srgbToLinear", "linear_to_srgb": "linearToSrgb", "rgb2hsv": "rgbToHsv",
    "hsv2rgb": "hsvToRgb", "unpremul": "unpremultiply", "premul": "premultiply",
  ]

  /// Whether a kernel cannot use the name for its own values. The names of the library's functions
  /// are free.
  static func isBuiltIn(_ name: String) -> Bool {
    Self.values.contains(name) || Self.functions.contains(name)
  }

  /// Returns the name that is meant, for a name that does not exist.
  static func nearest(to name: String, among candidates: [String]) -> String? {
    if let alias = Self.aliases[name], candidates.contains(alias) { return alias }
    return Spelling.nearest(to: name, among: candidates)
  }
}
