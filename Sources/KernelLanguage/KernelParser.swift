import SidelightKernels

/// A parser of kernels.
///
///     kernel     = [ "kernel" name [ text ] *attribute ] *( parameter / image ) code *( "pass" code )
///     code       = *( function / statement ) [ "return" / "warp" ] expression [ ";" ]
///     image      = "image" name [ "as" name ] [ text ] [ ";" ]
///     function   = "func" name "(" [ name ":" type *( "," name ":" type ) ] ")" "->" type
///                  "{" *statement [ "return" ] expression [ ";" ] "}"
///     statement  = ( "let" / "var" ) name "=" expression [ ";" ]
///                  / name ( "=" / "+=" / "-=" / "*=" / "/=" ) expression [ ";" ]
///                  / "for" name "in" number ( "..<" / "..." ) number block
///                  / choice
///     choice     = "if" expression block [ "else" ( block / choice ) ]
///     block      = "{" *statement "}"
///     attribute  = ( "category" / "coreImage" ) ":" name / ( "keywords" / "example" ) ":" text
///     parameter  = "param" name [ "as" name ] ":" default [ "in" range ] [ "slider" range ] [ text ]
///                  [ ";" ]
///     range      = number ".." number
///     default    = number / "true" / "false" / "#" hex
///                  / ( "color" / "vec2" / "vec3" / "vec4" / "numbers" ) "(" number *( "," number ) ")"
///                  / ( "radians" / "stops" ) "(" number ")" / "length" "(" length ")"
///                  / "point" "(" length "," length ")"
///     length     = number [ "px" / "w" / "h" / "min" ]
///     expression = or [ "?" expression ":" expression ]
///     or         = and *( "||" and )
///     and        = comparison *( "&&" comparison )
///     comparison = sum [ ( "<" / "<=" / ">" / ">=" / "==" / "!=" ) sum ]
///     sum        = product *( ( "+" / "-" ) product )
///     product    = unary *( ( "*" / "/" / "%" ) unary )
///     unary      = *( "-" / "!" ) value *( "." components / "[" expression "]" )
///     value      = number / "#" hex / "true" / "false" / name / name "(" arguments ")"
///                  / "(" expression ")" / "[" expression *( "," expression ) "]"
///
/// Nesting and the number of expressions are bounded, which bounds time and memory.
struct KernelParser {
  private var lexer: KernelLexer
  private var token = KernelToken(kind: .end, offset: 0)
  private var depth = 0
  private var expressionCount = 0
  private var statementCount = 0
  private var images: [KernelImage] = []
  private var isNeighborhood = false

  private static let keywords: Set<String> = [
    "kernel", "param", "let", "var", "for", "if", "else", "func", "return", "in", "true", "false",
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
    while true {
      if self.isWord("param") {
        try self.advance()
        try self.check(
          syntax.parameters.count + 1, atMost: KernelText.maxParameters, "parameters")
        syntax.parameters.append(try self.parameter(among: syntax.parameters))
      } else if self.isWord("image"), case .word = try self.next.kind {
        try self.advance()
        try self.check(self.images.count + 1, atMost: KernelText.maxImages, "images")
        self.images.append(try self.image(among: syntax.parameters))
      } else {
        break
      }
    }
    syntax.codeOffset = self.token.offset
    try self.code(&syntax)
    var last = syntax
    while self.isWord("pass") {
      try self.check(syntax.later.count + 2, atMost: KernelText.maxPasses, "passes")
      try self.advance()
      last.statements = []
      last.isWarp = false
      try self.code(&last)
      syntax.later.append(last)
    }
    guard self.token.kind == .end else {
      throw self.error("expected an operator, 'pass' or the end, found \(self.token.found)")
    }
    if syntax.passes.contains(where: \.isNeighborhood) {
      // A pass over neighbourhoods reads one picture.
      for index in self.images.indices { self.images[index].acceptsSource = false }
    }
    syntax.images = self.images
    for index in syntax.later.indices { syntax.later[index].images = self.images }
    return syntax
  }

  /// Parses the code of a pass, which may call the functions of earlier ones.
  private mutating func code(_ syntax: inout KernelText.Syntax) throws(KernelTextError) {
    while true {
      if self.isWord("func") {
        try self.advance()
        try self.check(syntax.functions.count + 1, atMost: KernelText.maxFunctions, "functions")
        syntax.functions.append(try self.function(among: syntax.functions))
      } else if let statement = try self.statement() {
        syntax.statements.append(statement)
      } else {
        break
      }
    }
    if self.isWord("param") {
      throw self.error("parameters must come before the first statement")
    }
    if self.isWord("return") {
      try self.advance()
    } else if self.isWord("warp"), try self.next.beginsValue {
      try self.advance()
      syntax.isWarp = true
    }
    syntax.resultOffset = self.token.offset
    syntax.result = try self.expression()
    try self.takeSemicolon()
    syntax.isNeighborhood = self.isNeighborhood || syntax.isWarp
  }

  /// Parses the functions of a library.
  mutating func parseLibrary() throws(KernelTextError) -> [KernelFunction] {
    try self.advance()
    var functions: [KernelFunction] = []
    while self.token.kind != .end {
      try self.expect("func", "expected 'func'")
      functions.append(try self.function(among: functions))
    }
    return functions
  }

  // MARK: Statements

  private static let assignments = ["=": "", "+=": "+", "-=": "-", "*=": "*", "/=": "/"]

  /// Parses a statement.
  ///
  /// - Returns: `nil` if the next token doesn't begin one.
  private mutating func statement() throws(KernelTextError) -> KernelStatement? {
    let offset = self.token.offset
    guard case .word(let word) = self.token.kind else { return nil }
    let kind: KernelStatement.Kind
    switch word {
    case "let", "var":
      try self.advance()
      let name = try self.name("a name after '\(word)'")
      try self.expect("=", "expected '=' after the name")
      kind = .binding(name, try self.expression(), isVariable: word == "var")
      try self.takeSemicolon()
    case "for":
      kind = try self.loop()
    case "if":
      kind = try self.choice()
    default:
      guard case .symbol(let symbol) = try self.next.kind, let operation = Self.assignments[symbol]
      else { return nil }
      try self.advance()
      let symbolOffset = self.token.offset
      try self.advance()
      var value = try self.expression()
      if !operation.isEmpty {
        let name = try self.make(.name(word), offset)
        value = try self.make(.binary(operation, name, value), symbolOffset)
      }
      kind = .assignment(word, value)
      try self.takeSemicolon()
    }
    self.statementCount += 1
    try self.check(self.statementCount, atMost: KernelText.maxStatements, "statements")
    return KernelStatement(kind: kind, offset: offset)
  }

  private mutating func loop() throws(KernelTextError) -> KernelStatement.Kind {
    try self.advance()
    let name = try self.name("a name after 'for'")
    try self.expect("in", "expected 'in' after the name")
    let offset = self.token.offset
    let first = try self.signedNumber()
    let includesLast = self.isSymbol("...")
    guard includesLast || self.isSymbol("..<") else {
      throw self.error(
        "expected '..<' or '...' and the last number, as in 0..<9, found \(self.token.found)")
    }
    try self.advance()
    let last = try self.signedNumber() + (includesLast ? 1 : 0)
    guard [first, last].allSatisfy({ $0 == $0.rounded() && abs($0) <= 1e6 }), first <= last else {
      throw self.error("a loop has two whole numbers, the least first", at: offset)
    }
    try self.check(Int(last - first), atMost: KernelText.maxTurns, "turns of a loop", at: offset)
    return .loop(name, Int(first) ..< Int(last), try self.block())
  }

  private mutating func choice() throws(KernelTextError) -> KernelStatement.Kind {
    try self.advance()
    let condition = try self.expression()
    let first = try self.block()
    guard self.isWord("else") else { return .choice(condition, first, []) }
    try self.advance()
    let offset = self.token.offset
    guard self.isWord("if") else { return .choice(condition, first, try self.block()) }
    let other = try self.nested { parser throws(KernelTextError) in try parser.choice() }
    return .choice(condition, first, [KernelStatement(kind: other, offset: offset)])
  }

  private mutating func block() throws(KernelTextError) -> [KernelStatement] {
    try self.expect("{", "expected '{'")
    let statements = try self.nested { parser throws(KernelTextError) in
      var statements: [KernelStatement] = []
      while let statement = try parser.statement() { statements.append(statement) }
      return statements
    }
    try self.expect("}", "expected a statement or '}'")
    return statements
  }

  private mutating func function(
    among others: [KernelFunction]
  ) throws(KernelTextError) -> KernelFunction {
    let start = self.token.offset
    let name = try self.name("a name after 'func'")
    guard !others.contains(where: { $0.name == name }) else {
      throw self.error("the function '\(name)' is given twice", at: start)
    }
    try self.expect("(", "expected '(' after the name")
    var parameters: [KernelFunction.Parameter] = []
    while !self.isSymbol(")") {
      if !parameters.isEmpty { try self.expect(",", "expected ',' or ')'") }
      try self.check(parameters.count + 1, atMost: 16, "parameters of a function")
      let name = try self.name("a name of a parameter")
      try self.expect(":", "expected ':' and a type after the name")
      parameters.append(KernelFunction.Parameter(name: name, type: try self.type()))
    }
    try self.advance()
    try self.expect("->", "expected '->' and the type of the result")
    let type = try self.type()
    try self.expect("{", "expected '{'")
    var body: [KernelStatement] = []
    while let statement = try self.statement() { body.append(statement) }
    if self.isWord("return") { try self.advance() }
    let value = try self.expression()
    try self.takeSemicolon()
    try self.expect("}", "expected an operator or '}'")
    return KernelFunction(
      name: name, parameters: parameters, type: type, body: body, value: value)
  }

  private mutating func type() throws(KernelTextError) -> KernelType {
    guard case .word(let word) = self.token.kind, let type = KernelType.named[word] else {
      throw self.error("expected float, vec2, vec3, vec4 or bool, found \(self.token.found)")
    }
    try self.advance()
    return type
  }

  private mutating func image(
    among parameters: [KernelParameter]
  ) throws(KernelTextError) -> KernelImage {
    let start = self.token.offset
    guard case .word(let parameter) = self.token.kind else {
      throw self.error("expected a name after 'image', found \(self.token.found)")
    }
    var name = parameter
    if try self.next.kind == .word("as") {
      try self.advance()
      try self.advance()
      name = try self.name("a name after 'as'")
    } else {
      name = try self.name("a name after 'image'")
    }
    guard Spelling.canonicalParameter(parameter) == parameter, !parameter.contains("_"),
      parameter.utf8.count <= Pipeline.maxNameBytes,
      !KernelText.reservedParameters.contains(parameter),
      !self.images.contains(where: { $0.parameter == parameter }),
      !parameters.contains(where: { $0.name == parameter || $0.name == name })
    else {
      throw self.error(
        "'\(parameter)' cannot be the name of an image; choose another name", at: start)
    }
    let image = KernelImage(
      parameter: parameter, name: name, summary: try self.takeText() ?? "")
    try self.takeSemicolon()
    return image
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
    among others: [KernelParameter]
  ) throws(KernelTextError) -> KernelParameter {
    let start = self.token.offset
    let name = try self.word("a name after 'param'")
    var alias: String?
    if self.isWord("as") {
      try self.advance()
      alias = try self.name("a name after 'as'")
    } else if KernelNames.isBuiltIn(name) {
      throw self.error(
        "'\(name)' is built in; choose another name, or give it one: param \(name) as other",
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
      !others.contains(where: { $0.name == name || ($0.alias ?? $0.name) == (alias ?? name) }),
      !self.images.contains(where: { $0.parameter == name || $0.name == (alias ?? name) })
    else {
      throw self.error("the parameter '\(alias ?? name)' is given twice", at: start)
    }
    try self.expect(":", "expected ':' and a default after the name")
    let defaultOffset = self.token.offset
    let unit: ParameterDescription.Unit? =
      self.isWord("radians") ? .radians : self.isWord("stops") ? .stops : nil
    let value = try self.defaultValue()
    let range = self.isWord("in") ? try self.range() : nil
    let sliderOffset = self.token.offset
    let slider = self.isWord("slider") ? try self.range() : nil
    let parameter = KernelParameter(
      name: name, alias: alias, defaultValue: value,
      unit: unit ?? (value.isLength ? .pixels : .none), range: range, slider: slider,
      summary: try self.takeText() ?? "")
    try self.takeSemicolon()
    let limits = range ?? ArgumentValidator.defaultLimits
    guard parameter.defaultNumbers.allSatisfy(limits.contains) else {
      throw self.error(
        "the default is outside \(limits.lowerBound) ... \(limits.upperBound)", at: defaultOffset)
    }
    guard slider.map({ $0.clamped(to: limits) == $0 }) ?? true else {
      throw self.error(
        "the slider is outside \(limits.lowerBound) ... \(limits.upperBound)", at: sliderOffset)
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
    case .word("numbers"):
      try self.advance()
      try self.expect("(", "expected '(' and numbers")
      var numbers = [try self.signedNumber()]
      while self.isSymbol(",") {
        try self.advance()
        try self.check(numbers.count + 1, atMost: 64, "numbers")
        numbers.append(try self.signedNumber())
      }
      try self.expect(")", "expected ',' or ')'")
      return .vector(numbers)
    case .word("radians"), .word("stops"):
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

  /// Parses a part that may contain parts of its kind.
  private mutating func nested<Part>(
    _ parse: (inout KernelParser) throws(KernelTextError) -> Part
  ) throws(KernelTextError) -> Part {
    self.depth += 1
    defer { self.depth -= 1 }
    guard self.depth <= KernelText.maxDepth else {
      throw self.error(
        "expressions nest deeper than \(KernelText.maxDepth)", limit: KernelText.maxDepth)
    }
    return try parse(&self)
  }

  private mutating func expression() throws(KernelTextError) -> KernelExpression {
    try self.nested { parser throws(KernelTextError) in try parser.conditional() }
  }

  private mutating func conditional() throws(KernelTextError) -> KernelExpression {
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
    let offset = self.token.offset
    try self.advance()
    let operand = try self.nested { parser throws(KernelTextError) in try parser.unary() }
    return try self.make(.unary(symbol, operand), offset)
  }

  private mutating func postfix() throws(KernelTextError) -> KernelExpression {
    var value = try self.value()
    while self.isSymbol(".") || self.isSymbol("[") {
      let offset = self.token.offset
      let isElement = self.isSymbol("[")
      try self.advance()
      if isElement {
        let index = try self.expression()
        try self.expect("]", "expected an operator or ']'")
        value = try self.make(.element(value, index), offset)
        continue
      }
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
      let arguments = try self.arguments(upTo: ")", atMost: 16, "arguments")
      if name == "sample" || name == "sampleAt" { self.noteSample(arguments) }
      return try self.make(.call(name, arguments), token.offset)
    case .symbol("["):
      let elements = try self.arguments(upTo: "]", atMost: KernelText.maxTurns, "elements")
      return try self.make(.array(elements), token.offset)
    case .symbol("("):
      try self.advance()
      let inner = try self.expression()
      try self.expect(")", "expected an operator or ')'")
      return inner
    default:
      throw self.error("expected a value, found \(token.found)")
    }
  }

  private mutating func arguments(
    upTo bracket: String, atMost limit: Int, _ what: String
  ) throws(KernelTextError) -> [KernelExpression] {
    try self.advance()
    var arguments: [KernelExpression] = []
    if !self.isSymbol(bracket) {
      arguments.append(try self.expression())
      while self.isSymbol(",") {
        try self.advance()
        try self.check(arguments.count + 1, atMost: limit, what)
        arguments.append(try self.expression())
      }
    }
    try self.expect(bracket, "expected ',' or '\(bracket)'")
    return arguments
  }

  /// Notes the picture that a call of `sample` or `sampleAt` reads.
  private mutating func noteSample(_ arguments: [KernelExpression]) {
    guard case .name(let name)? = arguments.first?.kind,
      let image = self.images.firstIndex(where: { $0.name == name })
    else { return self.isNeighborhood = true }
    self.images[image].acceptsSource = false
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

  /// The token after the current one.
  private var next: KernelToken {
    get throws(KernelTextError) {
      var lexer = self.lexer
      return try lexer.next()
    }
  }

  private func isWord(_ word: String) -> Bool { self.token.kind == .word(word) }

  private func isSymbol(_ symbol: String) -> Bool { self.token.kind == .symbol(symbol) }

  private mutating func expect(_ text: String, _ message: String) throws(KernelTextError) {
    guard self.isWord(text) || self.isSymbol(text) else {
      throw self.error("\(message), found \(self.token.found)")
    }
    try self.advance()
  }

  /// Parses a name, which may be a built-in one.
  private mutating func word(_ expected: String) throws(KernelTextError) -> String {
    guard case .word(let word) = self.token.kind, !Self.keywords.contains(word) else {
      throw self.error("expected \(expected), found \(self.token.found)")
    }
    try self.advance()
    return word
  }

  private mutating func name(_ expected: String) throws(KernelTextError) -> String {
    guard case .word(let name) = self.token.kind, !Self.keywords.contains(name) else {
      throw self.error("expected \(expected), found \(self.token.found)")
    }
    if KernelNames.isBuiltIn(name) {
      throw self.error("'\(name)' is built in; choose another name")
    }
    if self.images.contains(where: { $0.name == name }) {
      throw self.error("'\(name)' is an image; choose another name")
    }
    try self.advance()
    return name
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

  private func check(
    _ count: Int, atMost limit: Int, _ what: String, at offset: Int? = nil
  ) throws(KernelTextError) {
    guard count <= limit else {
      throw self.error("more than \(limit) \(what)", at: offset, limit: limit)
    }
  }

  private func error(
    _ message: String, at offset: Int? = nil, limit: Int? = nil
  ) -> KernelTextError {
    KernelTextError(
      message, in: self.lexer.bytes, at: offset ?? self.token.offset, limit: limit.map { "\($0)" })
  }
}

extension KernelToken {
  /// Whether a value, rather than an operator, begins with the token.
  fileprivate var beginsValue: Bool {
    switch self.kind {
    case .number, .color, .word, .symbol("("): true
    case .text, .symbol, .end: false
    }
  }
}
