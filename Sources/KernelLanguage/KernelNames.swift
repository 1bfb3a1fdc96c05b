import SidelightKernels

/// The names that the language defines.
enum KernelNames {
  /// The named values.
  static let values = ["color", "position", "size", "uv", "time", "frame", "pi"]

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
    "atan", "dot", "length", "distance", "normalize", "cross", "luma", "sample", "float", "vec2",
    "vec3", "vec4",
  ]

  /// All functions.
  static let functions = Self.unary + Self.binary + Self.ternary + Self.others

  /// The names in other shading languages, and the names in this language.
  private static let aliases = [
    "lerp": "mix", "frac": "fract", "rsqrt": "inversesqrt", "fmod": "mod", "atan2": "atan",
    "float2": "vec2", "float3": "vec3", "float4": "vec4", "texture": "sample",
    "texture2D": "sample", "tex": "sample", "luminance": "luma", "gray": "luma", "coord": "uv",
    "destCoord": "position", "gl_FragCoord": "position", "fragCoord": "position", "rgb": "color",
    "rgba": "color", "pixel": "color", "resolution": "size", "iTime": "time",
    "iResolution": "size", "PI": "pi",
  ]

  /// Whether a kernel cannot use the name for its own values.
  static func isBuiltIn(_ name: String) -> Bool {
    Self.values.contains(name) || Self.functions.contains(name)
  }

  /// Returns the name that is meant, for a name that does not exist.
  static func nearest(to name: String, among candidates: [String]) -> String? {
    if let alias = Self.aliases[name], candidates.contains(alias) { return alias }
    return Spelling.nearest(to: name, among: candidates)
  }
}
