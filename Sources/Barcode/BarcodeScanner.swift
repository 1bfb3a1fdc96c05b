import CBarcode
public import SidelightKernels
import Synchronization

/// A code that was found in a picture.
struct ScannedCode: Sendable, Hashable {
  /// The symbology, such as `QR-Code` or `EAN-13`.
  var kind: String
  /// The content: UTF-8, or ISO 8859-1 if it is not valid as UTF-8.
  var text: String
  /// Points on the edge of the code in pixels, x and y in turn: the four corners of a QR code.
  var corners: [Double]
}

/// An error of libzbar.
struct BarcodeError: Error, CustomStringConvertible {
  /// The fault, in one sentence.
  let description: String
}

/// Finds codes using libzbar. Used by one caller at a time.
@safe
final class BarcodeScanner: Sendable {
  /// The maximum size of a code's reported text in bytes.
  static let maxTextBytes = 1024

  private let scanner: Mutex<OpaquePointer>

  /// Loads libzbar.
  ///
  /// - Throws: ``BarcodeError`` if it is not installed, or lacks a function.
  init() throws(BarcodeError) {
    var reason = Array(repeating: CChar(0), count: 256)
    let created = unsafe cbarcode_create(&reason, reason.count)
    guard let scanner = unsafe created else {
      let bytes = reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      throw BarcodeError(description: String(decoding: bytes, as: UTF8.self))
    }
    unsafe self.scanner = Mutex(scanner)
  }

  deinit {
    unsafe self.scanner.withLock { unsafe cbarcode_destroy($0) }
  }

  /// Returns the codes in a picture.
  ///
  /// - Throws: ``BarcodeError`` if libzbar cannot scan the picture.
  func codes(in levels: LumaLevels) throws(BarcodeError) -> [ScannedCode] {
    let codes = unsafe self.scanner.withLock { scanner -> [ScannedCode]? in
      let found = Found()
      let count = unsafe levels.withSamples { samples in
        unsafe cbarcode_scan(
          scanner, samples.baseAddress, UInt32(levels.size.width), UInt32(levels.size.height),
          Unmanaged.passUnretained(found).toOpaque()
        ) { context, code in
          guard let context = unsafe context, let code = unsafe code else { return }
          let found = unsafe Unmanaged<Found>.fromOpaque(context).takeUnretainedValue()
          unsafe found.codes.append(ScannedCode(code.pointee))
        }
      }
      return count < 0 ? nil : found.codes
    }
    guard let codes else { throw BarcodeError(description: "libzbar could not scan the picture") }
    return codes
  }

  /// The codes that the callback of C collects.
  private final class Found {
    var codes: [ScannedCode] = []
  }
}

extension ScannedCode {
  /// The bytes of the text that are reported; a long text ends before a character of UTF-8.
  private static func textBytes(_ code: cbarcode_code) -> Int {
    guard unsafe code.text_bytes > BarcodeScanner.maxTextBytes, let text = unsafe code.text else {
      return unsafe code.text_bytes
    }
    var count = BarcodeScanner.maxTextBytes
    while count > 0, unsafe UInt8(bitPattern: text[count]) & 0xC0 == 0x80 { count -= 1 }
    return count
  }

  fileprivate init(_ code: cbarcode_code) {
    self.kind = unsafe code.kind.map { unsafe String(cString: $0) } ?? ""
    let text = unsafe UnsafeRawBufferPointer(start: code.text, count: Self.textBytes(code))
    let bytes = unsafe [UInt8](text)
    self.text =
      String(validating: bytes, as: UTF8.self)
      ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    self.corners = unsafe UnsafeBufferPointer(start: code.corners, count: 2 * code.corner_count)
      .map { Double($0) }
  }
}

/// Scanners that sessions share.
typealias ScannerPool = InstancePool<BarcodeScanner, BarcodeError>

/// An analysis that reads barcodes and QR codes.
struct Barcode: Filter {
  var description: FilterDescription { Self.description }

  static let description = FilterDescription(
    name: "barcode",
    summary: "Reads QR codes and barcodes. Does not change frames.",
    category: .analysis, reach: .frame, fidelity: .formula,
    keywords: "scan code",
    formula: """
      libzbar reads the luma of the frame in full size: QR codes, EAN-13, EAN-8, UPC-A, UPC-E, Code \
      128, Code 93, Code 39, Codabar and Interleaved 2 of 5. codes: their number, at most 8. For \
      code i, from left to right: kind{i}, the symbology; text{i}, at most 1,024 bytes; corners{i}, \
      x and y of points on its edge in pixels, the four corners of a QR code. code (regions): the \
      bounding boxes, in the same order. Needs libzbar0
      """,
    parameters: [
      ParameterDescription(
        "everyNth", .number, default: .number(5), slider: 1 ... 30, limits: 1 ... 100_000,
        "The interval in frames: 5 analyses every fifth frame.")
    ])

  /// The maximum number of codes reported per frame.
  private static let maxCodes = 8

  private let everyNth: Int
  private let scanners: ScannerPool

  init(_ arguments: Arguments, scanners: ScannerPool) {
    self.everyNth = Int(arguments.number("everyNth").rounded())
    self.scanners = scanners
  }

  func nodes(for geometry: FrameGeometry) -> [FilterNode] {
    [.analysis(Analysis(everyNth: self.everyNth, scanners: self.scanners))]
  }

  private struct Analysis: FrameAnalysis {
    let everyNth: Int
    let scanners: ScannerPool

    func analyze(_ frame: Frame, at time: FrameTime) throws -> [String: AnalysisValue] {
      let levels = LumaLevels(frame)
      let codes = try self.scanners.withInstance { scanner throws(BarcodeError) in
        try scanner.codes(in: levels)
      }
      return Barcode.results(codes)
    }
  }

  private static func results(_ codes: [ScannedCode]) -> [String: AnalysisValue] {
    let sorted = codes.sorted { ($0.left, $0.text) < ($1.left, $1.text) }.prefix(Self.maxCodes)
    var found: [String: AnalysisValue] = [
      "codes": .number(Double(sorted.count)),
      "code": .list(sorted.map { .region($0.boundingBox, confidence: 1, id: 0) }),
    ]
    for (index, code) in sorted.enumerated() {
      found["kind\(index)"] = .text(code.kind)
      found["text\(index)"] = .text(code.text)
      found["corners\(index)"] = .vector(code.corners)
    }
    return found
  }
}

extension ScannedCode {
  fileprivate var left: Double { self.boundingBox.origin.x.value }

  /// The smallest rectangle around the corners; empty without corners.
  fileprivate var boundingBox: Region {
    let xs = stride(from: 0, to: self.corners.count, by: 2).map { self.corners[$0] }
    let ys = stride(from: 1, to: self.corners.count, by: 2).map { self.corners[$0] }
    let (left, top) = (xs.min() ?? 0, ys.min() ?? 0)
    return Region(
      origin: FramePoint(x: Length(left), y: Length(top)),
      width: Length((xs.max() ?? 0) - left), height: Length((ys.max() ?? 0) - top))
  }
}

extension FilterCatalogue {
  /// Adds the filter `barcode`, which needs libzbar, and the filters that draw codes, which need
  /// libzint. Without its library, a filter is added as unavailable, and a pipeline that names it is
  /// refused with the reason.
  public mutating func registerBarcodes() {
    self.registerBarcodeGenerators()
    do throws(BarcodeError) {
      let scanners = ScannerPool { () throws(BarcodeError) in try BarcodeScanner() }
      try scanners.prepare()
      self.register(Barcode.description) { Barcode($0, scanners: scanners) }
    } catch {
      self.register(unavailable: Barcode.description, reason: error.description)
    }
  }
}
