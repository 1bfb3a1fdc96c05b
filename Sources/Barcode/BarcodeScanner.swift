import CBarcode
import SidelightKernels
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
