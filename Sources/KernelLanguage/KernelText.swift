import CKernels
public import SidelightKernels

/// A kernel as text: a function of a pixel's colour, position and neighbours, which clients send
/// while the server runs. `docs/guides/kernels.md` describes the language.
///
///     kernel glow "Adds a warm glow to bright pixels."
///     param intensity: 0.6 in 0..1 "The strength."
///
///     let g = smoothstep(0.5, 1, luma(color)) * intensity
///     return mix(color.rgb, vec3(1, 0.95, 0.8), g)
///
/// Kernels don't have state, and their length and cost are bounded: loops have a constant number of
/// turns. Equal kernels give the same bits on every machine.
public struct KernelText: Sendable {
  /// The parts of a text.
  struct Syntax: Sendable {
    var name = ""
    var summary = ""
    var category = FilterDescription.Category.effect
    var fidelity = Fidelity.formula
    var isCoreImage = false
    var keywords = ""
    var examples: [String] = []
    var parameters: [KernelParameter] = []
    var images: [KernelImage] = []
    var functions: [KernelFunction] = []
    var statements: [KernelStatement] = []
    /// The offset of the code after the parameters.
    var codeOffset = 0
    var result = KernelExpression(kind: .number(0), offset: 0)
    var resultOffset = 0
    /// Whether the result is the position to read.
    var isWarp = false
    /// Whether the kernel reads other pixels of the picture.
    var isNeighborhood = false
    /// The passes after this one.
    var later: [Syntax] = []

    /// All passes, first to last.
    var passes: [Syntax] { [self] + self.later }
  }

  /// The maximum size of a text in bytes.
  public static let maxByteCount = 16 << 10
  /// The maximum number of parameters.
  public static let maxParameters = 32
  /// The maximum number of further images.
  public static let maxImages = 4
  /// The maximum number of functions.
  public static let maxFunctions = 32
  /// The maximum number of statements.
  public static let maxStatements = 256
  /// The maximum number of passes.
  public static let maxPasses = 8
  /// The maximum number of turns of a loop, and of elements of an array.
  public static let maxTurns = 256
  /// The maximum number of expressions, counting every number, name and operation.
  public static let maxExpressions = 4096
  /// The deepest nesting of brackets.
  public static let maxDepth = 64
  /// The maximum number of consecutive operations within an expression that depend on the previous
  /// result.
  public static let maxOperations = 256
  /// The maximum size of a summary in bytes.
  public static let maxSummaryBytes = 256
  /// The maximum cost of a pixel in all passes, in nanoseconds as estimated by the compiler: a
  /// tenth of a second for a frame of 1920x1080 pixels.
  public static let maxNanosecondsPerPixel = 50.0
  /// The maximum distance of neighbours that a kernel reads from rows of floats, in pixels.
  static let maxReach = 32

  /// The parameters of the filter itself, which a kernel's cannot have as names.
  static let reservedParameters: Set<String> = ["asset", "source"]

  package let bytes: [UInt8]
  let syntax: Syntax
  /// The estimated time of a pixel for the costliest values of the parameters.
  public let nanosecondsPerPixel: Double

  /// Parses and checks a text.
  ///
  /// - Parameters:
  ///   - text: The text, in UTF-8.
  ///   - requiresHeader: Whether it must begin with `kernel` and a name, as files do.
  /// - Throws: ``KernelTextError`` at the first error.
  public init(_ text: String, requiresHeader: Bool = false) throws(KernelTextError) {
    try self.init(Array(text.utf8), requiresHeader: requiresHeader)
  }

  /// Parses and checks a file.
  ///
  /// - Throws: ``KernelTextError`` at the first error.
  package init(_ bytes: [UInt8], requiresHeader: Bool) throws(KernelTextError) {
    guard bytes.count <= Self.maxByteCount else {
      throw KernelTextError(
        "the text has \(bytes.count) bytes; the limit is \(Self.maxByteCount)", in: [], at: 0,
        value: "\(bytes.count)", limit: "\(Self.maxByteCount)")
    }
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw KernelTextError("the text is not UTF-8", in: [], at: 0)
    }
    var parser = KernelParser(bytes)
    self.bytes = bytes
    self.syntax = try parser.parse(requiresHeader: requiresHeader)
    self.nanosecondsPerPixel = try KernelCompiler.check(self.syntax.passes, bytes)
  }

  /// Parses a file of the catalogue, without the check that the tests make.
  ///
  /// - Throws: ``KernelTextError`` at the first error.
  init(parsing bytes: [UInt8]) throws(KernelTextError) {
    var parser = KernelParser(bytes)
    self.bytes = bytes
    self.syntax = try parser.parse(requiresHeader: true)
    self.nanosecondsPerPixel = 0
  }

  /// The name; empty for a text without one.
  public var name: String { self.syntax.name }

  /// The description in one line; empty by default.
  public var summary: String { self.syntax.summary }

  /// The descriptions of the parameters.
  public var parameters: [ParameterDescription] {
    self.syntax.images.map(\.description) + self.syntax.parameters.map(\.description)
  }

  /// The part of the frame on which a pixel depends.
  public var reach: FilterDescription.Reach {
    self.syntax.passes.contains(where: \.isNeighborhood) ? .neighborhood : .pixel
  }

  /// The description of the kernel as a filter. Its name is the text's name, and not a filter's.
  package var description: FilterDescription { self.description(formula: "") }

  /// The description of a filter of the catalogue: its formula is the code.
  var catalogueDescription: FilterDescription {
    var code = self.bytes[self.syntax.codeOffset...]
    while let last = code.last, last <= UInt8(ascii: " ") { code.removeLast() }
    return self.description(formula: String(decoding: code, as: UTF8.self))
  }

  private func description(formula: String) -> FilterDescription {
    FilterDescription(
      name: self.name, summary: self.summary, category: self.syntax.category, reach: self.reach,
      fidelity: self.syntax.fidelity, isCoreImage: self.syntax.isCoreImage,
      keywords: self.syntax.keywords, examples: self.syntax.examples, formula: formula,
      parameters: self.parameters)
  }

  /// Whether a file is a kernel, by its first word after spaces and comments. Other files of assets
  /// do not begin with `kernel`.
  package static func isKernel(_ bytes: [UInt8]) -> Bool {
    guard bytes.prefix(4).allSatisfy({ $0 < 0x80 }) else { return false }
    var lexer = KernelLexer(Array(bytes.prefix(Self.maxByteCount)))
    return (try? lexer.next())?.kind == .word("kernel")
  }
}

/// An error in the text of a kernel, with its position.
public struct KernelTextError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The position of the error.
  public let position: TextPosition
  /// The error in one sentence, with the expected and the found text.
  public let message: String
  /// The nearest existing name, if a name is unknown.
  public let suggestion: String?
  /// The invalid value, for programs; `nil` if the message does not state one.
  public let value: String?
  /// The limit that the value violates, for programs; `nil` for other errors.
  public let limit: String?

  /// Creates an error at an offset in bytes. An offset beyond the text counts as its end.
  init(
    _ message: String, in text: [UInt8], at offset: Int, suggestion: String? = nil,
    value: String? = nil, limit: String? = nil
  ) {
    self.position = TextPosition(offset: offset, in: text)
    self.message = message
    self.suggestion = suggestion
    self.value = value
    self.limit = limit
  }

  /// The position, the message, and the nearest name.
  public var description: String {
    let hint = self.suggestion.map { "; did you mean \($0)?" } ?? ""
    return "line \(self.position.line), column \(self.position.column): \(self.message)\(hint)"
  }
}

extension KernelText: KernelHandle {}

extension KernelAsset {
  /// The maximum memory of a kernel per byte of its file: expressions and their names.
  package static let memoryPerByte = 256

  /// The text.
  public var text: KernelText {
    guard let text = self.handle as? KernelText else {
      preconditionFailure("a kernel of another language")
    }
    return text
  }

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - bytes: The file, which begins with `kernel` and a name.
  ///   - lease: An object that the asset retains.
  /// - Throws: ``KernelTextError`` at the first error.
  package convenience init(_ bytes: [UInt8], lease: (any AssetLease)?) throws(KernelTextError) {
    self.init(handle: try KernelText(bytes, requiresHeader: true), lease: lease)
  }

  /// Reads a file.
  ///
  /// - Parameter bytes: The file, which begins with `kernel` and a name.
  /// - Throws: ``KernelTextError`` at the first error.
  public convenience init(_ bytes: [UInt8]) throws(KernelTextError) {
    try self.init(bytes, lease: nil)
  }
}

extension KernelText {
  /// Returns the nodes of the kernel for frames of a geometry.
  ///
  /// - Parameters:
  ///   - values: The components of the parameters.
  ///   - arguments: The arguments that name the kernel's images.
  ///   - space: The working space, to which images are converted.
  func nodes(
    _ values: [[Double]], _ arguments: Arguments, for geometry: FrameGeometry,
    in space: WorkingSpace
  ) -> [FilterNode] {
    guard let images = self.images(arguments, in: geometry.size, space) else { return [] }
    let setting = KernelCompiler.Setting(
      parameters: values, size: geometry.size, isOpaque: geometry.isOpaque)
    return self.syntax.passes.flatMap { self.nodes(of: $0, setting, images, in: space) }
  }

  private func nodes(
    of pass: Syntax, _ setting: KernelCompiler.Setting, _ images: [PlacedBackdrop],
    in space: WorkingSpace
  ) -> [FilterNode] {
    guard let compiled = try? KernelCompiler.compile(pass, self.bytes, setting) else { return [] }
    // The results of neighbourhoods are premultiplied, and matrices take straight colour.
    if !compiled.isNeighborhood, let matrix = compiled.graph.affineMap(of: compiled.results) {
      return matrix == .identity ? [] : [.matrix(matrix)]
    }
    let program = KernelProgram(compiled)
    // With parameters, the program is at most as large as the checked one.
    guard program.fits else { return [] }
    let byteCost = images.reduce(program.byteCount) { $0 + $1.byteCount }
    if compiled.isNeighborhood {
      let operation = KernelNeighborhood(
        program: program, images: images, isWarp: pass.isWarp)
      return [FilterNode(.neighborhood(operation), byteCost: byteCost)]
    }
    let function = PixelKernel(program: program, images: images)
    let readsSource = images.contains { image in
      if case .source = image { true } else { false }
    }
    guard readsSource else {
      let pixels = unsafe PixelFunction { input, count, red, output in
        unsafe program.run(input, count, red, output, sl_rows_current().pointee)
      }
      let kernel = StripKernel(
        .value(function), isCurve: compiled.graph.isChannelwise(compiled.results),
        nanosecondsPerPixel: program.nanosecondsPerPixel,
        pixels: images.isEmpty && program.isPixelFunction ? pixels : nil
      ) { strip in
        unsafe program.run(
          strip, KernelProgram.Sources(images: images), sl_rows_current().pointee)
      }
      return [FilterNode(.kernel(kernel), byteCost: byteCost)]
    }
    let kernel = SourceKernel(
      .value(function), space: space, nanosecondsPerPixel: program.nanosecondsPerPixel
    ) { strip, source in
      unsafe program.run(
        strip, KernelProgram.Sources(images: images, source: source), sl_rows_current().pointee)
    }
    return [FilterNode(.source(kernel), byteCost: byteCost)]
  }

  /// Returns the images of a call, stretched over frames of a size; `nil` if one is missing.
  private func images(
    _ arguments: Arguments, in size: FrameSize, _ space: WorkingSpace
  ) -> [PlacedBackdrop]? {
    var images: [PlacedBackdrop] = []
    for image in self.syntax.images {
      // The asset with the text may have been replaced since the arguments were checked.
      guard case .text(let name)? = arguments.values[image.parameter],
        image.acceptsSource || name != Asset.sourceName,
        let picture = Backdrop(image.parameter, of: arguments)?.placed(.stretch, in: size, space)
      else { return nil }
      images.append(picture)
    }
    return images
  }
}

extension PlacedBackdrop {
  /// The memory of the pixels, in bytes.
  fileprivate var byteCount: Int {
    if case .image(let image) = self { image.byteCount } else { 0 }
  }
}
