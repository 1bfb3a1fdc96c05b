import CBarcode
import SidelightKernels

/// The symbology of a code that a filter draws, with its parameters.
enum CodeKind: CaseIterable {
  case qr, aztec, code128, pdf417
}

/// A code over the picture: the modules that libzint computes, as squares of whole pixels.
struct BarcodeGenerator: CheckedFilter, AdjustableFilter {
  let kind: CodeKind
  let description: FilterDescription
  let violation: ArgumentViolation?
  private let code: WrittenCode?
  private let request: CodeRequest
  private let center: FramePoint
  private let width: Length
  private let quietSpace: Int

  init(_ kind: CodeKind, _ arguments: Arguments) {
    self.init(kind, arguments, earlier: nil)
  }

  /// Returns the filter with other parameter values. The code is written again only if it changes.
  func with(_ arguments: Arguments) -> Self {
    Self(self.kind, arguments, earlier: self)
  }

  private init(_ kind: CodeKind, _ arguments: Arguments, earlier: Self?) {
    self.kind = kind
    self.description = kind.description
    self.center = arguments.point("center")
    self.width = arguments.length("width")
    self.quietSpace = Int(arguments.number("quietSpace").rounded())
    self.request = CodeRequest(kind, arguments)
    if let earlier, earlier.request == self.request {
      (self.code, self.violation) = (earlier.code, earlier.violation)
      return
    }
    do throws(BarcodeError) {
      self.code = try WrittenCode(self.request)
      self.violation = nil
    } catch {
      self.code = nil
      self.violation = ArgumentViolation("message", error.description)
    }
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    guard let code = self.code else { return [] }
    let size = geometry.size
    let columns = code.columns + 2 * self.quietSpace
    let rows = code.rows * code.rowHeight + 2 * self.quietSpace
    let width = self.width.pixels(in: size)
    let module =
      width > 0
      ? Int(width) / columns : min(size.width / columns, size.height / rows)
    let drawing = CodeDrawing(
      code: code, quietSpace: self.quietSpace, module: max(module, 1), columns: columns,
      rows: rows, center: self.center, in: size)
    let kernel = StripKernel { pixel, x, y, _ in
      guard let level = drawing.level(x, y) else { return pixel }
      return [Double(level), Double(level), Double(level), 1]
    } apply: { strip in
      for index in 0 ..< strip.count {
        guard let level = drawing.level(strip.x + index, strip.y) else { continue }
        unsafe strip.red[index] = level
        unsafe strip.green[index] = level
        unsafe strip.blue[index] = level
        unsafe strip.alpha[index] = 1
      }
    }
    return [FilterNode(.kernel(kernel))]
  }
}

/// The modules of a code at their place in a frame.
private struct CodeDrawing {
  let code: WrittenCode
  let quietSpace: Int
  /// The side of a module in pixels.
  let module: Int
  let x: Range<Int>
  let y: Range<Int>

  init(
    code: WrittenCode, quietSpace: Int, module: Int, columns: Int, rows: Int, center: FramePoint,
    in size: FrameSize
  ) {
    self.code = code
    self.quietSpace = quietSpace
    self.module = module
    let (width, height) = (columns * module, rows * module)
    let left = (center.x.pixels(in: size) - Double(width) / 2).rounded()
    let top = (center.y.pixels(in: size) - Double(height) / 2).rounded()
    // Far outside of any frame, whatever the centre.
    let (x, y) = (Int(min(max(left, -1e6), 1e6)), Int(min(max(top, -1e6), 1e6)))
    self.x = x ..< x + width
    self.y = y ..< y + height
  }

  /// Returns 0 in dark modules, 1 in light ones and the quiet zone, and `nil` outside.
  func level(_ x: Int, _ y: Int) -> Float? {
    guard self.y.contains(y), self.x.contains(x) else { return nil }
    let column = (x - self.x.lowerBound) / self.module - self.quietSpace
    let row = (y - self.y.lowerBound) / self.module - self.quietSpace
    guard column >= 0, column < self.code.columns, row >= 0,
      row < self.code.rows * self.code.rowHeight
    else { return 1 }
    return self.code.modules[row / self.code.rowHeight * self.code.columns + column] == 0 ? 1 : 0
  }
}

/// The arguments of libzint.
private struct CodeRequest: Sendable, Equatable {
  let kind: CodeKind
  let message: String
  let symbology: Int32
  let options: [Int32]
  /// The height of a row of modules in modules.
  let rowHeight: Int

  init(_ kind: CodeKind, _ arguments: Arguments) {
    func whole(_ name: String) -> Int { Int(arguments.number(name).rounded()) }
    self.kind = kind
    self.message = arguments.text("message")
    switch kind {
    case .qr:
      let level = Array("LMQH").firstIndex(of: Character(arguments.text("correctionLevel"))) ?? 1
      self.symbology = Int32(CBARCODE_QR)
      self.options = [Int32(level + 1), 0, 0]
      self.rowHeight = 1
    case .aztec:
      // libzint has four levels.
      let level = [16.5, 29.5, 43].count { arguments.number("correctionLevel") > $0 }
      self.symbology = Int32(CBARCODE_AZTEC)
      self.options = [Int32(level + 1), 0, 0]
      self.rowHeight = 1
    case .code128:
      self.symbology = Int32(CBARCODE_CODE128)
      self.options = [-1, 0, 0]
      self.rowHeight = whole("barcodeHeight")
    case .pdf417:
      self.symbology =
        Int32(arguments.flag("compactStyle") ? CBARCODE_PDF417_COMPACT : CBARCODE_PDF417)
      self.options = [Int32(whole("correctionLevel")), Int32(whole("dataColumns")), 0]
      self.rowHeight = 3
    }
  }
}

/// The modules of a code.
private struct WrittenCode: Sendable {
  let rows: Int
  let columns: Int
  let rowHeight: Int
  /// The modules by rows; 1 is dark.
  let modules: [UInt8]

  /// - Throws: ``BarcodeError`` if a code cannot hold the message.
  init(_ request: CodeRequest) throws(BarcodeError) {
    let text = Array(request.message.utf8)
    guard !text.isEmpty else { throw BarcodeError(description: "message is empty") }
    if request.kind == .code128, let other = request.message.unicodeScalars.first(where: \.isOther)
    {
      throw BarcodeError(
        description: "message has \(other.debugDescription); Code 128 holds ASCII only")
    }
    // libzint limits codes to 200 rows of 1152 modules.
    var modules = [UInt8](repeating: 0, count: 200 * 1152)
    var (rows, columns) = (Int32(0), Int32(0))
    var reason = Array(repeating: CChar(0), count: 128)
    let isWritten = unsafe cbarcode_write(
      request.symbology, request.options, text, Int32(text.count), &modules, modules.count, &rows,
      &columns, &reason, reason.count)
    guard isWritten != 0 else {
      let bytes = reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      throw BarcodeError(
        description: "message of \(text.count) bytes does not fit the code: "
          + String(decoding: bytes, as: UTF8.self))
    }
    (self.rows, self.columns) = (Int(rows), Int(columns))
    self.rowHeight = request.rowHeight
    self.modules = Array(modules.prefix(self.rows * self.columns))
  }
}

extension Unicode.Scalar {
  fileprivate var isOther: Bool { !self.isASCII || self.value == 0 }
}

extension CodeKind {
  private static let fit = """
    ; black on white, over the picture, in squares of whole pixels: the largest that fit the width. \
    Needs libzint2.11, or up to 2.16
    """

  private func describe(
    _ name: String, _ title: String, _ standard: String, quiet: Double, example: String,
    _ parameters: [ParameterDescription] = []
  ) -> FilterDescription {
    FilterDescription(
      name: name, summary: "Draws \(title) over the picture.", category: .generator,
      reach: .pixel, fidelity: .modelled, isCoreImage: true,
      keywords: "barcode code 2d matrix print url link", examples: [example],
      formula: standard + Self.fit,
      parameters: [
        ParameterDescription(
          "message", .text, default: .text("Sidelight"), "The text in the code, as UTF-8.")
      ] + parameters + [
        ParameterDescription(
          "center", .point, default: .point(.center), "The centre of the code."),
        ParameterDescription(
          "width", .length, default: .number(0), slider: 0 ... 1000, limits: 0 ... 16384,
          "The width with the quiet zone; 0 fits the code into the frame."),
        ParameterDescription(
          "quietSpace", .number, default: .number(quiet), slider: 0 ... 20, limits: 0 ... 100,
          "The white edge in modules, a whole number."),
      ])
  }

  /// The filter of the symbology.
  var description: FilterDescription {
    switch self {
    case .qr:
      self.describe(
        "qRCodeGenerator", "a QR code", "ISO/IEC 18004", quiet: 4,
        example: "qRCodeGenerator(message: \"https://sidelight.example\", width: 0.4w)",
        [
          ParameterDescription(
            "correctionLevel", .choice(["L", "M", "Q", "H"]), default: .text("M"),
            "The share of damage that readers correct: 7, 15, 25 or 30 percent.")
        ])
    case .aztec:
      self.describe(
        "aztecCodeGenerator", "an Aztec code", "ISO/IEC 24778", quiet: 1,
        example: "aztecCodeGenerator(message: \"https://sidelight.example\", width: 0.4w)",
        [
          ParameterDescription(
            "correctionLevel", .number, default: .number(23), slider: 5 ... 95,
            limits: 5 ... 95,
            "The share of words for correction in percent; the nearest of 10, 23, 36 and 50.")
        ])
    case .code128:
      self.describe(
        "code128BarcodeGenerator", "a Code 128 barcode", "ISO/IEC 15417", quiet: 10,
        example: "code128BarcodeGenerator(message: \"SIDELIGHT-42\", width: 0.8w)",
        [
          ParameterDescription(
            "barcodeHeight", .number, default: .number(32), slider: 1 ... 500, limits: 1 ... 500,
            "The height in modules, a whole number.")
        ])
    case .pdf417:
      self.describe(
        "pDF417BarcodeGenerator", "a PDF417 barcode", "ISO/IEC 15438", quiet: 2,
        example: "pDF417BarcodeGenerator(message: \"https://sidelight.example\", width: 0.8w)",
        [
          ParameterDescription(
            "correctionLevel", .number, default: .number(2), slider: 0 ... 8, limits: 0 ... 8,
            "The level of correction, a whole number: 2^(level + 1) words."),
          ParameterDescription(
            "dataColumns", .number, default: .number(0), slider: 0 ... 30, limits: 0 ... 30,
            "The whole number of columns of words; 0 is chosen by the length."),
          ParameterDescription(
            "compactStyle", .flag, default: .flag(false),
            "Whether the right row indicators are left out."),
        ])
    }
  }
}

extension FilterCatalogue {
  /// Adds the filters that draw codes, as unavailable ones without libzint.
  mutating func registerBarcodeGenerators() {
    let failure = unsafe cbarcode_writer_failure().map { unsafe String(cString: $0) }
    for kind in CodeKind.allCases {
      if let failure {
        self.register(unavailable: kind.description, reason: failure)
      } else {
        self.register(kind.description) { BarcodeGenerator(kind, $0) }
      }
    }
  }
}
