import SidelightKernelLanguage
import SidelightKernels
import Testing

/// The text of kernels: accepted texts, and positions of errors.
@Suite struct `Kernels as text` {
  struct Invalid: Sendable, CustomTestStringConvertible {
    let text: String
    let line: Int
    let column: Int
    let message: String
    var suggestion: String?
    var testDescription: String { self.text }
  }

  static let invalid = [
    Invalid(text: "", line: 1, column: 1, message: "expected a value, found the end"),
    Invalid(text: "color +", line: 1, column: 8, message: "expected a value, found the end"),
    Invalid(
      text: "let y = lumma(color)\nreturn y", line: 1, column: 9,
      message: "no function named 'lumma'", suggestion: "luma"),
    Invalid(
      text: "let y = luma(color)\nreturn color.rgb * yy", line: 2, column: 20,
      message: "no value named 'yy'", suggestion: "y"),
    Invalid(
      text: "lerp(color, color, 1)", line: 1, column: 1, message: "no function named 'lerp'",
      suggestion: "mix"),
    Invalid(
      text: "color.rgb + color", line: 1, column: 11,
      message: "'+' does not take a vec3 and a vec4; select components"),
    Invalid(text: "color.rgx", line: 1, column: 7, message: "'rgx' are not components of a vec4"),
    Invalid(text: "uv.z", line: 1, column: 4, message: "not components of a vec2"),
    Invalid(text: "uv", line: 1, column: 1, message: "the result is a vec2"),
    Invalid(text: "color.r < 1", line: 1, column: 9, message: "the result is a bool"),
    Invalid(text: "color.r ? 1 : 0", line: 1, column: 9, message: "is a float, not a bool"),
    Invalid(text: "vec3(1, 2)", line: 1, column: 1, message: "takes 3 numbers in all"),
    Invalid(text: "mix(1, 2)", line: 1, column: 1, message: "mix takes 3 arguments, not 2"),
    Invalid(text: "sample(1, 2, 3)", line: 1, column: 1, message: "sample takes two numbers"),
    Invalid(
      text: "sampleAt(1)", line: 1, column: 1, message: "sampleAt takes two numbers, the position"),
    Invalid(text: "warp color", line: 1, column: 6, message: "is a vec4; it must be a vec2"),
    Invalid(text: "var a = 1 var a = 2 a", line: 1, column: 11, message: "is a variable already"),
    Invalid(text: "let a = 1 a = 2 a", line: 1, column: 11, message: "declare it with 'var'"),
    Invalid(text: "summ = 1 let sum = 1 sum", line: 1, column: 1, message: "no value named 'summ'"),
    Invalid(
      text: "var sum = vec2(0) sum += vec3(1) sum.x", line: 1, column: 23,
      message: "'+' does not take a vec2 and a vec3"),
    Invalid(text: "var a = 1 a = vec2(1) a", line: 1, column: 15, message: "the value a vec2"),
    Invalid(text: "for i in 0..9 { } 1", line: 1, column: 11, message: "as in 0..<9, found '..'"),
    Invalid(text: "for i in 3..<1 { } 1", line: 1, column: 10, message: "the least first"),
    Invalid(text: "for i in 0..<999 { } 1", line: 1, column: 10, message: "more than 256 turns"),
    Invalid(text: "for i in 0..<9 { let a = i a", line: 1, column: 28, message: "or '}'"),
    Invalid(text: "if color.r { } 1", line: 1, column: 9, message: "is a float, not a bool"),
    Invalid(text: "[1, vec2(1)][0]", line: 1, column: 5, message: "of one type, not a vec2"),
    Invalid(text: "[1, 2][2]", line: 1, column: 8, message: "a whole number of 0 ..< 2"),
    Invalid(text: "[1, 2][color.r]", line: 1, column: 13, message: "an index is a constant number"),
    Invalid(text: "[1, 2]", line: 1, column: 1, message: "the result is a array of 2 float"),
    Invalid(
      text: "func f(a: float) -> float { f(a) } f(1)", line: 1, column: 29,
      message: "a function calls functions that come before it"),
    Invalid(
      text: "func f() -> vec2 { 1 } func f() -> float { 1 } 1", line: 1, column: 29,
      message: "is given twice"),
    Invalid(text: "func f(a: int) -> vec2 { a } 1", line: 1, column: 11, message: "expected float"),
    Invalid(
      text: "func f(a: float) -> vec2 { vec3(a) } f(1).x", line: 1, column: 28,
      message: "returns a vec2, and the value is a vec3"),
    Invalid(
      text: "func f(a: float) -> float { a } f(uv)", line: 1, column: 35,
      message: "'a' of f is a float, not a vec2"),
    Invalid(
      text: "func half() -> float { 0.5 } hal()", line: 1, column: 30,
      message: "no function named 'hal'", suggestion: "half"),
    Invalid(
      text: "premultiply(color.rgb)", line: 1, column: 1,
      message: "'c' of premultiply is a vec4, not a vec3"),
    Invalid(text: "image back let back = 1 back", line: 1, column: 16, message: "is an image"),
    Invalid(text: "image back image back back", line: 1, column: 18, message: "is an image"),
    Invalid(text: "param a: 1 image a a", line: 1, column: 18, message: "cannot be the name"),
    Invalid(text: "é", line: 1, column: 1, message: "'é' has no meaning"),
    Invalid(text: "// é\n  2 $", line: 2, column: 5, message: "'$' has no meaning"),
    Invalid(text: "/* color", line: 1, column: 1, message: "has no end"),
    Invalid(text: "2x", line: 1, column: 2, message: "a number ends before a name"),
    Invalid(text: "let luma = 1 return luma", line: 1, column: 5, message: "'luma' is built in"),
    Invalid(text: "param a: 2 in 0..1 a", line: 1, column: 10, message: "outside 0.0 ... 1.0"),
    Invalid(text: "param a: 1 in 1..0 a", line: 1, column: 15, message: "the least first"),
    Invalid(text: "param a: 1 param a: 2 a", line: 1, column: 18, message: "is given twice"),
    Invalid(text: "image back param back: 1 back", line: 1, column: 18, message: "is given twice"),
    Invalid(text: "param a_b: 1 a_b", line: 1, column: 7, message: "letters and digits only"),
    Invalid(text: "param inputGain: 1 a", line: 1, column: 7, message: "is read as 'gain'"),
    Invalid(text: "param source: 1 a", line: 1, column: 7, message: "of the filter itself"),
    Invalid(
      text: "let a = 1 param b: 1 a", line: 1, column: 11, message: "before the first statement"),
    Invalid(
      text: "color color", line: 1, column: 7,
      message: "expected an operator, 'pass' or the end"),
    Invalid(text: "1 < 2 < 3 ? 1 : 0", line: 1, column: 7, message: "expected"),
    Invalid(text: "!color.r", line: 1, column: 1, message: "'!' takes a bool, not a float"),
    Invalid(text: "1e99", line: 1, column: 1, message: "is not a number of at most 1e30"),
    Invalid(text: "#12345", line: 1, column: 1, message: "6 or 8 hexadecimal digits"),
  ]

  @Test(arguments: Self.invalid)
  func `an error is at its character`(_ invalid: Invalid) throws {
    let error = try #require(throws: KernelTextError.self) { try KernelText(invalid.text) }
    #expect(error.message.contains(invalid.message), "\(error)")
    #expect(error.position.line == invalid.line, "\(error)")
    #expect(error.position.column == invalid.column, "\(error)")
    #expect(error.suggestion == invalid.suggestion, "\(error)")
  }

  @Test func `a file begins with a header, and a text in a pipeline may`() throws {
    let text = "// looks\nkernel warm \"Warms.\" return color.rgb * vec3(1.1, 1, 0.9)"
    let kernel = try KernelText(text, requiresHeader: true)
    #expect(kernel.name == "warm")
    #expect(kernel.summary == "Warms.")
    #expect(KernelText.isKernel(Array(text.utf8)))
    #expect(!KernelText.isKernel(Array("TITLE \"kernel\"\nLUT_3D_SIZE 2".utf8)))
    #expect(!KernelText.isKernel([0x89, 0x50, 0x4E, 0x47]))
    _ = try KernelText("color.bgr")
    let error = try #require(throws: KernelTextError.self) {
      try KernelText("color.bgr", requiresHeader: true)
    }
    #expect(error.message.contains("expected 'kernel' and a name"))
  }

  @Test func `parameters have the kinds of their defaults`() throws {
    let kernel = try KernelText(
      """
      param number: -0.5 in -1..1 "A number."
      param flag: true
      param pair: vec2(1, 2) in 0..4
      param tint: #ff0080 "A colour."
      param paint: color(0.5, 1.5, 0)
      return flag ? color * number + tint * pair.x + paint : color
      """)
    let parameters = kernel.parameters
    #expect(parameters.map(\.name) == ["number", "flag", "pair", "tint", "paint"])
    #expect(
      parameters.map(\.kind) == [.number, .flag, .vector(count: 2), .color, .color])
    #expect(parameters[0].limits == -1 ... 1)
    #expect(parameters[0].defaultValue == .number(-0.5))
    #expect(parameters[0].summary == "A number.")
    #expect(parameters[3].defaultValue == .color(RGBAColor(red: 1, green: 0, blue: 128 / 255)))
    #expect(
      parameters[4].defaultValue == .color(RGBAColor(red: 0.5, green: 1.5, blue: 0, alpha: 1)))
  }

  private static let rest = Array(repeating: "a[1]", count: 15).joined(separator: ",")

  /// Texts beyond a limit, and a part of the error.
  static let costly: [(String, String)] = [
    ("\(String(repeating: "(", count: 65))1\(String(repeating: ")", count: 65))", "nest deeper"),
    ("\(String(repeating: "-", count: 65))1", "nest deeper"),
    (Array(repeating: "color", count: 300).joined(separator: "+"), "operations in a row"),
    ("let a = 1 \(String(repeating: "let a = a ", count: 256))a", "more than 256 statements"),
    (
      "var a = color for i in 0..<200 { for j in 0..<200 { a = a + 1 } } a",
      "with the turns of loops and the calls of functions"
    ),
    (
      Self.functions(30) { "\($0)(\($0)(a))" },
      "with the turns of loops and the calls of functions"
    ),
    (
      Self.functions(16) { call in
        "\(String(repeating: "sin(", count: 60))\(call)(a)\(String(repeating: ")", count: 60))"
      },
      "with the functions that they call"
    ),
    (String(repeating: "if true { ", count: 65), "nest deeper"),
    // Blocks without expressions, and choices between many values.
    (
      "for a in 0..<256 { for b in 0..<256 { for c in 0..<256 { } } } color",
      "with the turns of loops and the calls of functions"
    ),
    (
      "let t = color.r > 0 var a = [\(Array(repeating: "color", count: 16).joined(separator: ","))] "
        + "for i in 0..<256 { for j in 0..<99 { if t { a = [color, \(Self.rest)] } } } color",
      "with the turns of loops and the calls of functions"
    ),
    ("image a image b image c image d image e a", "more than 4 images"),
    (
      "var a = vec4(0) for i in 0..<14 { a += sampleAt(hash(position + i), hash(i) * 99) } a",
      "ns per pixel; the limit is 50"
    ),
    (
      "vec4(\(Array(repeating: "1", count: 17).joined(separator: ",")))",
      "more than 16 arguments"
    ),
    (String(repeating: " ", count: 16385), "the limit is 16384"),
    (
      "let a = color \(String(repeating: "let a = pow(sin(a), cos(a)) ", count: 9))a",
      "ns per pixel; the limit is 50"
    ),
  ]

  @Test(arguments: Self.costly)
  func `length, depth and cost are limited`(_ text: String, _ message: String) throws {
    let error = try #require(throws: KernelTextError.self) { try KernelText(text) }
    #expect(error.message.contains(message), "\(error)")
  }

  /// Returns a kernel of functions that each call the one before them.
  private static func functions(_ count: Int, _ body: (_ call: String) -> String) -> String {
    var text = "func f0(a: float) -> float { a + 1 } "
    for index in 1 ... count {
      text += "func f\(index)(a: float) -> float { \(body("f\(index - 1)")) } "
    }
    return text + "f\(count)(1)"
  }

  @Test func `values that are not numbers are computed once`() throws {
    // With p = 0 all quotients are NaN, and all terms are equal.
    let terms = Array(repeating: "atan(color + p / p)", count: 40).joined(separator: " + ")
    let pipeline: Pipeline = [
      .filter("kernel", ["source": .text("param p: 0 in 0..1 return \(terms)")])
    ]
    let plan = try FilterCatalogue.builtIn.resolve(pipeline).plan(
      for: FrameGeometry(format: .bgra8, size: FrameSize(width: 1000, height: 1000)))
    // A million pixels.
    let limit = 1e6 * KernelText.maxNanosecondsPerPixel * InstructionSet.kernelSlowness
    #expect(plan.kernelTime / .nanoseconds(1) < limit)
  }

  @Test func `steps on single numbers have a cost`() throws {
    let few = try KernelText("color * sin(time)").nanosecondsPerPixel
    let nested =
      Array(repeating: "sin(", count: 30).joined() + "time"
      + Array(repeating: ")", count: 30).joined()
    #expect(try KernelText("color * \(nested)").nanosecondsPerPixel > few + 1)
  }

  @Test func `the cost grows with the work`() throws {
    let cheap = try KernelText("color.rgb * color.r").nanosecondsPerPixel
    let costly = try KernelText("pow(color.rgb, vec3(color.r))").nanosecondsPerPixel
    #expect(cheap > 0)
    #expect(costly > 2 * cheap)
    #expect(try KernelText("let unused = sin(color) return color").nanosecondsPerPixel == 0)
  }
}
