import SidelightKernels

/// A parser of kernels.
///
///     kernel     = [ "kernel" name [ text ] *attribute ] *( parameter / image ) *binding
///                  [ "return" ] expression [ ";" ]
///     image      = "image" name [ "as" name ] [ text ] [ ";" ]
///     attribute  = ( "category" / "coreImage" ) ":" name / ( "keywords" / "example" ) ":" text
///     parameter  = "param" name [ "as" name ] ":" default [ "in" range ] [ "slider" range ] [ text ]
///                  [ ";" ]
///     range      = number ".." number
///     default    = number / "true" / "false" / "#" hex / ( "color" / "vec2" / "vec3" / "vec4" )
///                  "(" number *( "," number ) ")" / "radians" "(" number ")" / "length" "(" length ")"
///                  / "point" "(" length "," length ")"
///     length     = number [ "px" / "w" / "h" / "min" ]
///     binding    = "let" name "=" expression [ ";" ]
///     expression = or [ "?" expression ":" expression ]
///     or         = and *( "||" and )
///     and        = comparison *( "&&" comparison )
///     comparison = sum [ ( "<" / "<=" / ">" / ">=" / "==" / "!=" ) sum ]
///     sum        = product *( ( "+" / "-" ) product )
///     product    = unary *( ( "*" / "/" / "%" ) unary )
///     unary      = *( "-" / "!" ) value *( "." components )
///     value      = number / "#" hex / "true" / "false" / name / name "(" arguments ")"
///                  / "(" expression ")"
///
/// Nesting and the number of expressions are bounded, which bounds time and memory.
struct KernelParser {
  private var lexer: KernelLexer
  private var token = KernelToken(kind: .end, offset: 0)
  private var depth = 0
  private var expressionCount = 0

  private static let keywords: Set<String> = [
    "kernel", "param", "image", "let", "return", "in", "true", "false",
  ]

  init(_ bytes: [UInt8]) {
    self.lexer = KernelLexer(bytes)
  }

  /// Parses the whole text.
  ///
  /// - Parameter requiresHeader: Whether the text must begin with `kernel` and a name.
  mutating func parse(requiresHeader: Bool) throws(KernelTextError) -> KernelText.Syntax {
    try self.advance()
    var syntax = KernelText.Syntax()
    if self.isWord("kernel") || requiresHeader {
      try self.expect("kernel", "expected 'kernel' and a name")
      syntax.name = try self.word("a name of the kernel")
      syntax.summary = try self.takeText() ?? ""
      try self.takeSemicolon()
      try self.attributes(&syntax)
    }
    while self.isWord("param") || self.isWord("image") {
      let isImage = self.isWord("image")
      try self.advance()
      try self.check(
        syntax.parameters.count + 1, atMost: KernelText.maxParameters, "parameters")
      syntax.parameters.append(try self.parameter(among: syntax.parameters, isImage: isImage))
    }
    syntax.codeOffset = self.token.offset
    while self.isWord("let") {
      try self.advance()
      try self.check(syntax.bindings.count + 1, atMost: KernelText.maxBindings, "bindings")
      let name = try self.name("a name after 'let'")
      try self.expect("=", "expected '=' after the name")
      syntax.bindings.append(KernelBinding(name: name, value: try self.expression()))
      try self.takeSemicolon()
    }
    if self.isWord("param") || self.isWord("image") {
      throw self.error("parameters must come before the first 'let'")
    }
    if self.isWord("return") { try self.advance() }
    syntax.resultOffset = self.token.offset
    syntax.result = try self.expression()
    try self.takeSemicolon()
    guard self.token.kind == .end else {
      throw self.error("expected an operator or the end, found \(self.token.found)")
    }
    return syntax
  }

  // MARK: Attributes

  private static let attributes: Set<String> = ["category", "coreImage", "example", "keywords"]

  /// Parses the properties of a filter, between the summary and the first parameter.
  private mutating func attributes(_ syntax: inout KernelText.Syntax) throws(KernelTextError) {
    while case .word(let attribute) = self.token.kind, Self.attributes.contains(attribute) {
      try self.advance()
      try self.expect(":", "expected ':' after '\(attribute)'")
      switch attribute {
      case "category":
        syntax.category = try self.choice(FilterDescription.Category.self)
      case "coreImage":
        syntax.fidelity = try self.choice(Fidelity.self)
        syntax.isCoreImage = true
      default:
        let offset = self.token.offset
        guard let text = try self.takeText() else {
          throw self.error("expected a text in quotes, found \(self.token.found)", at: offset)
        }
        if attribute == "example" {
          try self.check(syntax.examples.count + 1, atMost: 4, "examples")
          syntax.examples.append(text)
        } else {
          syntax.keywords = text
        }
      }
      try self.takeSemicolon()
    }
  }

  /// Parses a name of an enumeration.
  private mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ type: Choice.Type
  ) throws(KernelTextError) -> Choice {
    guard case .word(let word) = self.token.kind, let choice = Choice(rawValue: word) else {
      throw self.error(
        "expected one of \(Choice.allCases.map(\.rawValue).joined(separator: ", ")), found "
          + self.token.found)
    }
    try self.advance()
    return choice
  }

  // MARK: Parameters

  private mutating func parameter(
    among others: [KernelParameter], isImage: Bool
  ) throws(KernelTextError) -> KernelParameter {
    let start = self.token.offset
    let keyword = isImage ? "image" : "param"
    let name = try self.word("a name after '\(keyword)'")
    var alias: String?
    if self.isWord("as") {
      try self.advance()
      alias = try self.name("a name after 'as'")
    } else if KernelNames.isBuiltIn(name) {
      throw self.error(
        "'\(name)' is built in; choose another name, or give it one: \(keyword) \(name) as other",
        at: start)
    }
    guard name.utf8.count <= Pipeline.maxNameBytes else {
      throw self.error("a parameter's name has at most \(Pipeline.maxNameBytes) bytes", at: start)
    }
    guard !name.contains("_") else {
      throw self.error(
        "a parameter's name has letters and digits only, like those of filters: maxRadius",
        at: start)
    }
    // Permissions and pipelines would refer to it by another name.
    let canonical = Spelling.canonicalParameter(name)
    guard canonical == name else {
      throw self.error("the name '\(name)' is read as '\(canonical)'; use that", at: start)
    }
    guard !KernelText.reservedParameters.contains(name) else {
      throw self.error(
        "'\(name)' is a parameter of the filter itself; choose another name", at: start)
    }
    guard
      !others.contains(where: { $0.name == name || ($0.alias ?? $0.name) == (alias ?? name) })
    else {
      throw self.error("the parameter '\(alias ?? name)' is given twice", at: start)
    }
    if isImage {
      let summary = try self.takeText() ?? ""
      try self.takeSemicolon()
      return KernelParameter(
        name: name, alias: alias, defaultValue: .image, unit: .none, range: nil, slider: nil,
        summary: summary)
    }
    try self.expect(":", "expected ':' and a default after the name")
    let defaultOffset = self.token.offset
    let isAngle = self.isWord("radians")
    let value = try self.defaultValue()
    let range = self.isWord("in") ? try self.range() : nil
    let slider = self.isWord("slider") ? try self.range() : nil
    let parameter = KernelParameter(
      name: name, alias: alias, defaultValue: value,
      unit: isAngle ? .radians : value.isLength ? .pixels : .none, range: range, slider: slider,
      summary: try self.takeText() ?? "")
    try self.takeSemicolon()
    let limits = range ?? ArgumentValidator.defaultLimits
    guard parameter.defaultNumbers.allSatisfy(limits.contains) else {
      throw self.error(
        "the default is outside \(limits.lowerBound) ... \(limits.upperBound)", at: defaultOffset)
    }
    return parameter
  }

  /// Parses the numbers after `in` or `slider`.
  private mutating func range() throws(KernelTextError) -> ClosedRange<Double> {
    try self.advance()
    let offset = self.token.offset
    let low = try self.signedNumber()
    try self.expect("..", "expected '..' and the greatest value, as in '0..1'")
    let high = try self.signedNumber()
    guard low < high, abs(low) <= 1e6, abs(high) <= 1e6 else {
      throw self.error(
        "a range has two different numbers within -1e6 ... 1e6, the least first", at: offset)
    }
    return low ... high
  }

  private mutating func defaultValue() throws(KernelTextError) -> KernelParameter.Default {
    switch self.token.kind {
    case .color(let channels):
      try self.advance()
      return .color(channels)
    case .word("true"), .word("false"):
      let isTrue = self.isWord("true")
      try self.advance()
      return .flag(isTrue)
    case .word("radians"):
      try self.advance()
      try self.expect("(", "expected '(' and a number")
      let number = try self.signedNumber()
      try self.expect(")", "expected ')'")
      return .number(number)
    case .word("length"):
      try self.advance()
      try self.expect("(", "expected '(' and a length")
      let length = try self.length()
      try self.expect(")", "expected ')'")
      return .length(length)
    case .word("point"):
      try self.advance()
      try self.expect("(", "expected '(' and two lengths")
      let x = try self.length()
      try self.expect(",", "expected ',' and a length")
      let y = try self.length()
      try self.expect(")", "expected ')'")
      return .point(FramePoint(x: x, y: y))
    case .word(let type) where ["color", "vec2", "vec3", "vec4"].contains(type):
      let start = self.token.offset
      try self.advance()
      try self.expect("(", "expected '(' and numbers")
      var numbers = [try self.signedNumber()]
      while self.isSymbol(","), numbers.count <= 4 {
        try self.advance()
        numbers.append(try self.signedNumber())
      }
      try self.expect(")", "expected ')'")
      if type == "color", numbers.count == 3 { numbers.append(1) }
      let count = type == "color" ? 4 : Int(type.utf8.last ?? 0) - Int(UInt8(ascii: "0"))
      guard numbers.count == count else {
        throw self.error(
          type == "color" ? "a colour has 3 or 4 numbers" : "\(type) has \(count) numbers",
          at: start)
      }
      return type == "color" ? .color(numbers) : .vector(numbers)
    default:
      return .number(try self.signedNumber())
    }
  }

  private static let units: [String: Length.Unit] = [
    "px": .pixels, "w": .width, "h": .height, "min": .shortSide,
  ]

  private mutating func length() throws(KernelTextError) -> Length {
    let number = try self.signedNumber()
    guard case .word(let word) = self.token.kind, let unit = Self.units[word] else {
      return Length(number)
    }
    try self.advance()
    return Length(number, unit)
  }

  private mutating func signedNumber() throws(KernelTextError) -> Double {
    let isNegative = self.isSymbol("-")
    if isNegative { try self.advance() }
    guard case .number(let number) = self.token.kind else {
      throw self.error("expected a number, found \(self.token.found)")
    }
    try self.advance()
    return isNegative ? -number : number
  }

  // MARK: Expressions

  private mutating func expression() throws(KernelTextError) -> KernelExpression {
    self.depth += 1
    defer { self.depth -= 1 }
    guard self.depth <= KernelText.maxDepth else {
      throw self.error(
        "expressions nest deeper than \(KernelText.maxDepth)", limit: KernelText.maxDepth)
    }
    let condition = try self.binary(0)
    guard self.isSymbol("?") else { return condition }
    let offset = self.token.offset
    try self.advance()
    let first = try self.expression()
    try self.expect(":", "expected ':' and the value for the other case")
    return try self.make(.choice(condition, first, try self.expression()), offset)
  }

  private static let levels: [Set<String>] = [
    ["||"], ["&&"], ["<", "<=", ">", ">=", "==", "!="], ["+", "-"], ["*", "/", "%"],
  ]

  /// Parses operators of a precedence and of higher ones.
  private mutating func binary(_ level: Int) throws(KernelTextError) -> KernelExpression {
    guard level < Self.levels.count else { return try self.unary() }
    var left = try self.binary(level + 1)
    while case .symbol(let symbol) = self.token.kind, Self.levels[level].contains(symbol) {
      let offset = self.token.offset
      try self.advance()
      left = try self.make(.binary(symbol, left, try self.binary(level + 1)), offset)
      // Comparisons cannot be chained.
      if level == 2 { break }
    }
    return left
  }

  private mutating func unary() throws(KernelTextError) -> KernelExpression {
    guard case .symbol(let symbol) = self.token.kind, symbol == "-" || symbol == "!" else {
      return try self.postfix()
    }
    self.depth += 1
    defer { self.depth -= 1 }
    guard self.depth <= KernelText.maxDepth else {
      throw self.error(
        "expressions nest deeper than \(KernelText.maxDepth)", limit: KernelText.maxDepth)
    }
    let offset = self.token.offset
    try self.advance()
    return try self.make(.unary(symbol, try self.unary()), offset)
  }

  private mutating func postfix() throws(KernelTextError) -> KernelExpression {
    var value = try self.value()
    while self.isSymbol(".") {
      let offset = self.token.offset
      try self.advance()
      let start = self.token.offset
      guard case .word(let components) = self.token.kind else {
        throw self.error("expected components after '.', as in color.rgb")
      }
      try self.advance()
      value = try self.make(.components(value, components, at: start), offset)
    }
    return value
  }

  private mutating func value() throws(KernelTextError) -> KernelExpression {
    let token = self.token
    switch token.kind {
    case .number(let number):
      try self.advance()
      return try self.make(.number(number), token.offset)
    case .color(let channels):
      try self.advance()
      return try self.make(.color(channels), token.offset)
    case .word("true"), .word("false"):
      try self.advance()
      return try self.make(.flag(token.kind == .word("true")), token.offset)
    case .word(let name):
      guard !Self.keywords.contains(name) else {
        throw self.error("expected a value, found the keyword '\(name)'")
      }
      try self.advance()
      guard self.isSymbol("(") else { return try self.make(.name(name), token.offset) }
      return try self.make(.call(name, try self.arguments()), token.offset)
    case .symbol("("):
      try self.advance()
      let inner = try self.expression()
      try self.expect(")", "expected an operator or ')'")
      return inner
    default:
      throw self.error("expected a value, found \(token.found)")
    }
  }

  private mutating func arguments() throws(KernelTextError) -> [KernelExpression] {
    try self.advance()
    var arguments: [KernelExpression] = []
    if !self.isSymbol(")") {
      arguments.append(try self.expression())
      while self.isSymbol(",") {
        try self.advance()
        try self.check(arguments.count + 1, atMost: 16, "arguments")
        arguments.append(try self.expression())
      }
    }
    try self.expect(")", "expected ',' or ')'")
    return arguments
  }

  private mutating func make(
    _ kind: KernelExpression.Kind, _ offset: Int
  ) throws(KernelTextError) -> KernelExpression {
    self.expressionCount += 1
    try self.check(self.expressionCount, atMost: KernelText.maxExpressions, "expressions")
    let expression = KernelExpression(kind: kind, offset: offset)
    guard expression.depth <= KernelText.maxOperations else {
      throw self.error(
        "more than \(KernelText.maxOperations) operations in a row; divide them with 'let'",
        at: offset, limit: KernelText.maxOperations)
    }
    return expression
  }

  // MARK: Tokens

  private mutating func advance() throws(KernelTextError) {
    self.token = try self.lexer.next()
  }

  private func isWord(_ word: String) -> Bool { self.token.kind == .word(word) }

  private func isSymbol(_ symbol: String) -> Bool { self.token.kind == .symbol(symbol) }

  private mutating func expect(_ text: String, _ message: String) throws(KernelTextError) {
    guard self.isWord(text) || self.isSymbol(text) else {
      throw self.error("\(message), found \(self.token.found)")
    }
    try self.advance()
  }

  private mutating func name(_ expected: String) throws(KernelTextError) -> String {
    if case .word(let name) = self.token.kind, KernelNames.isBuiltIn(name) {
      throw self.error("'\(name)' is built in; choose another name")
    }
    return try self.word(expected)
  }

  /// Parses a name, which may be a built-in one.
  private mutating func word(_ expected: String) throws(KernelTextError) -> String {
    guard case .word(let word) = self.token.kind, !Self.keywords.contains(word) else {
      throw self.error("expected \(expected), found \(self.token.found)")
    }
    try self.advance()
    return word
  }

  private mutating func takeText() throws(KernelTextError) -> String? {
    guard case .text(let text) = self.token.kind else { return nil }
    guard text.utf8.count <= KernelText.maxSummaryBytes else {
      throw self.error(
        "the text has \(text.utf8.count) bytes; the limit is \(KernelText.maxSummaryBytes)")
    }
    try self.advance()
    return text
  }

  private mutating func takeSemicolon() throws(KernelTextError) {
    if self.isSymbol(";") { try self.advance() }
  }

  private func check(_ count: Int, atMost limit: Int, _ what: String) throws(KernelTextError) {
    guard count <= limit else {
      throw self.error("more than \(limit) \(what)", limit: limit)
    }
  }

  private func error(
    _ message: String, at offset: Int? = nil, limit: Int? = nil
  ) -> KernelTextError {
    KernelTextError(
      message, in: self.lexer.bytes, at: offset ?? self.token.offset, limit: limit.map { "\($0)" })
  }
}
