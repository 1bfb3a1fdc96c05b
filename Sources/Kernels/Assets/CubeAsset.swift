/// A colour lookup table: three curves, or a cube of colours.
public final class CubeAsset: Sendable {
  /// The shape of a table.
  public enum Shape: Sendable, Hashable {
    /// Three curves, for red, green and blue, of `count` entries: 2 ... ``maxCurveCount``.
    case curves(count: Int)
    /// A cube with `size` entries along every side: 2 ... ``maxCubeSize``.
    case cube(size: Int)

    var entryCount: Int {
      switch self {
      case .curves(let count): count
      case .cube(let size): size * size * size
      }
    }

    /// The bytes of a table of this shape: the entries, and a second copy in the order that the C
    /// rows read.
    package var byteCount: Int {
      switch self {
      case .curves(let count): 24 * count
      case .cube(let size): 28 * size * size * size
      }
    }
  }

  /// The title in the file; empty by default.
  public let title: String
  /// The shape of the table.
  public let shape: Shape
  /// The red, green and blue of the first entries.
  public let domainLow: SIMD3<Float>
  /// The red, green and blue of the last entries.
  public let domainHigh: SIMD3<Float>
  /// Red, green and blue of every entry; in a cube red changes fastest.
  package let entries: FloatTable
  /// The entries as three consecutive curves; empty for a cube.
  let curves: FloatTable
  /// The entries of a cube as four numbers, the last of them 0, as read by the C rows.
  let texels: FloatTable
  /// Retained for the table's lifetime.
  private let lease: (any AssetLease)?

  /// The maximum number of entries of a curve.
  public static let maxCurveCount = 65536
  /// The longest side of a cube.
  public static let maxCubeSize = 129

  /// Creates a table.
  ///
  /// - Parameter lease: An object that the table retains.
  /// - Precondition: There are three numbers per entry, at least two entries along every side, and
  ///   every channel of `domainHigh` exceeds the channel of `domainLow`.
  package init(
    title: String, shape: Shape, domainLow: SIMD3<Float>, domainHigh: SIMD3<Float>,
    entries: [Float], lease: (any AssetLease)? = nil
  ) {
    self.lease = lease
    self.title = title
    self.shape = shape
    self.domainLow = domainLow
    self.domainHigh = domainHigh
    self.entries = FloatTable(entries)
    switch shape {
    case .curves(let count):
      self.curves = FloatTable(
        (0 ..< 3).flatMap { channel in
          stride(from: channel, to: entries.count, by: 3).map { entries[$0] }
        })
      self.texels = FloatTable([])
      precondition(count >= 2 && entries.count == 3 * count, "a curve has other entries")
    case .cube(let size):
      self.curves = FloatTable([])
      self.texels = FloatTable(
        stride(from: 0, to: entries.count, by: 3).flatMap { entries[$0 ..< $0 + 3] + [0] })
      precondition(
        size >= 2 && entries.count == 3 * size * size * size, "a cube has other entries")
    }
    precondition(all(domainLow .< domainHigh), "the domain is empty")
  }

  /// Whether the table's memory is counted by a lease.
  var isLeased: Bool { self.lease != nil }
}

extension CubeAsset: Hashable {
  /// Whether both are the same object.
  public static func == (left: CubeAsset, right: CubeAsset) -> Bool { left === right }

  /// Hashes the identity of the object.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}

/// A reader of `.cube` files: Adobe's "Cube LUT Specification" 1.0, with the two `INPUT_RANGE`
/// keywords that grading programs write.
///
/// A file has keywords (`TITLE`, `LUT_1D_SIZE` or `LUT_3D_SIZE`, `DOMAIN_MIN`, `DOMAIN_MAX`),
/// comments from `#`, and then one line of three numbers per entry. Time and memory are bounded by
/// the file's length and by the size limits of ``CubeAsset``.
public struct CubeFile {
  /// The longest accepted file: 64 MiB.
  public static let maxByteCount = 64 << 20

  private var title = ""
  private var shape: CubeAsset.Shape?
  private var low: SIMD3<Float> = [0, 0, 0]
  private var high: SIMD3<Float> = [1, 1, 1]
  private var entries: [Float] = []
  private var line = 0

  private init() {}

  /// Reads a table.
  ///
  /// - Parameter bytes: The file: ASCII or UTF-8, with any of the usual line endings.
  /// - Throws: ``CubeFileError`` with the line of the first error.
  public static func read(_ bytes: [UInt8]) throws(CubeFileError) -> CubeAsset {
    try self.read(bytes, lease: nil)
  }

  /// Reads a table.
  ///
  /// - Parameter lease: An object that the table retains.
  package static func read(
    _ bytes: [UInt8], lease: (any AssetLease)?
  ) throws(CubeFileError) -> CubeAsset {
    var file = CubeFile()
    try file.readLines(bytes) { _ in true }
    return try file.finish(lease)
  }

  /// Reads the shape of a file's table without its entries.
  ///
  /// - Throws: ``CubeFileError`` with the line of the first error up to the size.
  package static func shape(of bytes: [UInt8]) throws(CubeFileError) -> CubeAsset.Shape {
    var file = CubeFile()
    try file.readLines(bytes) { $0.shape == nil }
    guard let shape = file.shape else { throw Self.noSize }
    return shape
  }

  /// Reads line by line, to the end or while `shouldContinue` returns true.
  private mutating func readLines(
    _ bytes: [UInt8], while shouldContinue: (CubeFile) -> Bool
  ) throws(CubeFileError) {
    guard bytes.count <= Self.maxByteCount else {
      throw CubeFileError(
        line: 0, message: "the file has \(bytes.count) bytes, the limit is \(Self.maxByteCount)")
    }
    var start = 0
    while start < bytes.count, shouldContinue(self) {
      let end = bytes[start...].firstIndex { $0 == 10 || $0 == 13 } ?? bytes.count
      self.line += 1
      try self.read(line: bytes[start ..< end])
      // A carriage return and a line feed end one line.
      let isPair = end + 1 < bytes.count && bytes[end] == 13 && bytes[end + 1] == 10
      start = end + (isPair ? 2 : 1)
    }
  }

  private static let noSize = CubeFileError(
    line: 0, message: "the file has neither LUT_1D_SIZE nor LUT_3D_SIZE")

  private mutating func read(line bytes: ArraySlice<UInt8>) throws(CubeFileError) {
    let words = Self.words(bytes.prefix { $0 != UInt8(ascii: "#") })
    guard let first = words.first, let letter = first.first else { return }
    // Keywords begin with a letter, and a title may contain any text.
    guard UInt8(ascii: "A") ... UInt8(ascii: "Z") ~= letter else {
      return try self.append(words)
    }
    let keyword = Self.excerpt(first)
    switch keyword {
    case "TITLE":
      let quoted = bytes.split(separator: UInt8(ascii: "\""), maxSplits: 2).dropFirst().first ?? []
      self.title = String(decoding: quoted.prefix(256), as: UTF8.self)
    case "LUT_1D_SIZE":
      let count = try self.size(words, limit: CubeAsset.maxCurveCount, keyword)
      try self.set(.curves(count: count))
    case "LUT_3D_SIZE":
      let size = try self.size(words, limit: CubeAsset.maxCubeSize, keyword)
      try self.set(.cube(size: size))
    case "DOMAIN_MIN":
      self.low = try self.colors(words.dropFirst())
    case "DOMAIN_MAX":
      self.high = try self.colors(words.dropFirst())
    case "LUT_1D_INPUT_RANGE", "LUT_3D_INPUT_RANGE":
      let range = try self.numbers(words.dropFirst(), count: 2)
      (self.low, self.high) = (SIMD3(repeating: range[0]), SIMD3(repeating: range[1]))
    default:
      throw self.error("\(keyword) is not a keyword of a .cube file")
    }
  }

  /// Splits a line into a keyword and at most three numbers. A longer line yields one more word,
  /// which makes it invalid; splitting a line of a million words would take a hundred times its
  /// length in memory.
  private static func words(_ line: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    let end = line.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? line.startIndex
    return line[..<end].split(maxSplits: 4, whereSeparator: isSpace)
  }

  private mutating func append(_ words: [ArraySlice<UInt8>]) throws(CubeFileError) {
    guard let expected = self.shape?.entryCount else {
      throw self.error("numbers before LUT_1D_SIZE or LUT_3D_SIZE")
    }
    guard self.entries.count < 3 * expected else {
      throw self.error("more than the \(expected) entries of the stated size")
    }
    let color = try self.colors(words[...])
    self.entries += [color.x, color.y, color.z]
  }

  private mutating func set(_ shape: CubeAsset.Shape) throws(CubeFileError) {
    guard self.shape == nil else {
      throw self.error("a second size; a table has either curves or a cube")
    }
    self.shape = shape
    self.entries.reserveCapacity(3 * min(shape.entryCount, 1 << 16))
  }

  private consuming func finish(_ lease: (any AssetLease)?) throws(CubeFileError) -> CubeAsset {
    guard let shape = self.shape else { throw Self.noSize }
    let expected = shape.entryCount
    guard self.entries.count == 3 * expected else {
      throw CubeFileError(
        line: 0,
        message: "the file has \(self.entries.count / 3) entries; its size requires \(expected)")
    }
    guard all(self.low .< self.high) else {
      throw CubeFileError(
        line: 0, message: "DOMAIN_MIN \(self.low) is not below DOMAIN_MAX \(self.high)")
    }
    return CubeAsset(
      title: self.title, shape: shape, domainLow: self.low, domainHigh: self.high,
      entries: self.entries, lease: lease)
  }

  private func size(
    _ words: [ArraySlice<UInt8>], limit: Int, _ keyword: String
  ) throws(CubeFileError) -> Int {
    let text = words.dropFirst().first.map(Self.excerpt) ?? ""
    guard words.count == 2, let size = Int(text), (2 ... limit).contains(size) else {
      throw self.error("\(keyword) is \"\(text)\", the range is 2 ... \(limit)")
    }
    return size
  }

  private func colors(_ words: ArraySlice<ArraySlice<UInt8>>) throws(CubeFileError) -> SIMD3<Float>
  {
    SIMD3(try self.numbers(words, count: 3))
  }

  private func numbers(
    _ words: ArraySlice<ArraySlice<UInt8>>, count: Int
  ) throws(CubeFileError) -> [Float] {
    guard words.count == count else {
      throw self.error("\(words.count) numbers; there must be \(count)")
    }
    var numbers: [Float] = []
    for word in words {
      let text = Self.excerpt(word)
      guard word.count <= 64, let number = Float(text), abs(number) <= 1e6 else {
        throw self.error("\"\(text)\" is not a number between -1e6 and 1e6")
      }
      numbers.append(number)
    }
    return numbers
  }

  /// A word, or its first 64 bytes: keywords and valid numbers are at most as long.
  private static func excerpt(_ word: ArraySlice<UInt8>) -> String {
    String(decoding: word.prefix(64), as: UTF8.self)
  }

  private func error(_ message: String) -> CubeFileError {
    CubeFileError(line: self.line, message: message)
  }
}

/// An invalid `.cube` file.
public struct CubeFileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The invalid line, from 1; 0 for the file as a whole.
  public let line: Int
  /// The error with its figures, in one sentence.
  public let message: String

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - line: From 1; 0 for the file as a whole.
  ///   - message: One sentence.
  public init(line: Int, message: String) {
    self.line = line
    self.message = message
  }

  /// The line, if known, and the message.
  public var description: String {
    self.line == 0 ? self.message : "line \(self.line): \(self.message)"
  }
}
