import SidelightKernels

/// The facts about a whole JPEG file that its header does not contain: whether it is complete, the
/// number of its scans, and whether it defines the tables used by its samples.
///
/// libjpeg reports truncated files as corrupt or not at all. Its instances also remember the tables
/// of earlier files for files without tables, and a picture must not be decoded using another
/// caller's tables.
struct JPEGContents {
  /// The coding of samples.
  private struct Coding {
    /// Whether the scans contain parts of the coefficients or of their bits.
    var isProgressive = false
    /// Whether the codes are arithmetic, which do not use tables.
    var isArithmetic = false
  }

  let header: JPEGHeader
  /// Whether the file defines every table before using it.
  private(set) var isSelfContained = true

  private var scans = 0
  /// A bit per defined quantization table.
  private var quantization: UInt16 = 0
  /// A bit per defined table of Huffman codes: four for DC, then four for AC.
  private var huffman: UInt16 = 0

  /// Reads all segments up to the end of the picture.
  ///
  /// Every scan costs a pass over the picture, even if it has few bytes. Ordinary encoders write
  /// ten scans, encoders that search for the best script a few dozen. The maximum is 64, and fewer
  /// for pictures of which 64 scans have more pixels than 16 of the largest picture.
  ///
  /// - Parameter limits: The limits, of which `maxPixels` also limits the scans.
  /// - Precondition: The picture is within the limits.
  /// - Throws: ``CodecError`` with code `truncated`, `corrupt`, `unsupported`, or `limitExceeded`
  ///   for too many scans.
  init(_ file: RawSpan, limits: ImageLimits) throws(CodecError) {
    self.header = try JPEGHeader(file)
    let maxScans = min(64, 16 * limits.maxPixels / self.header.size.pixelCount)
    var markers = JPEGMarkers()
    var coding = Coding()
    while true {
      let segment = try markers.next(in: file)
      switch segment.marker {
      case 0xC2: coding = Coding(isProgressive: true)
      case 0xC9, 0xCA: coding = Coding(isArithmetic: true)
      case 0xDB: self.readQuantization(segment.body, of: file)
      case 0xC4: self.readHuffman(segment.body, of: file)
      case 0xDA:
        self.scans += 1
        guard self.scans <= maxScans else {
          throw CodecError(
            .limitExceeded, "the picture has more than \(maxScans) scans")
        }
        self.readScan(segment.body, of: file, coding)
      case 0xD9: return
      default: break
      }
    }
  }

  private mutating func readQuantization(_ body: Range<Int>, of file: RawSpan) {
    var offset = body.lowerBound
    while offset < body.upperBound {
      let kind = file.byte(at: offset)
      self.quantization |= 1 << UInt16(kind & 15)
      offset += kind >> 4 == 0 ? 65 : 129
    }
    if offset != body.upperBound { self.isSelfContained = false }
  }

  private mutating func readHuffman(_ body: Range<Int>, of file: RawSpan) {
    var offset = body.lowerBound
    while offset + 17 <= body.upperBound {
      let kind = file.byte(at: offset)
      if kind & 0xEC == 0 { self.huffman |= 1 << UInt16((kind >> 4) * 4 + (kind & 3)) }
      let codes = (offset + 1 ... offset + 16).reduce(0) { $0 + Int(file.byte(at: $1)) }
      offset += 17 + codes
    }
    if offset != body.upperBound { self.isSelfContained = false }
  }

  private mutating func readScan(
    _ body: Range<Int>, of file: RawSpan, _ coding: Coding
  ) {
    let start = body.lowerBound
    let count = body.isEmpty ? 0 : Int(file.byte(at: start))
    guard body.count == 4 + 2 * count else { return self.isSelfContained = false }
    let firstCoefficient = file.byte(at: start + 1 + 2 * count)
    let lastCoefficient = file.byte(at: start + 2 + 2 * count)
    for index in 0 ..< count {
      let component = file.byte(at: start + 1 + 2 * index)
      let tables = file.byte(at: start + 2 + 2 * index)
      guard let componentIndex = self.header.components.firstIndex(of: component) else {
        return self.isSelfContained = false
      }
      let quantization = UInt16(self.header.quantizationTables[componentIndex] & 15)
      var isKnown = self.quantization >> quantization & 1 == 1
      if !coding.isArithmetic {
        let (dc, ac) = (UInt16(tables >> 4), UInt16(tables & 15))
        if !coding.isProgressive || firstCoefficient == 0 {
          isKnown = isKnown && dc < 4 && self.huffman >> dc & 1 == 1
        }
        if !coding.isProgressive || lastCoefficient > 0 {
          isKnown = isKnown && ac < 4 && self.huffman >> (4 + ac) & 1 == 1
        }
      }
      if !isKnown { self.isSelfContained = false }
    }
  }
}

/// Reads the segments of a JPEG file (ITU-T T.81, annex B). The file may be hostile.
struct JPEGMarkers {
  /// A marker, and the range of its contents in the file.
  struct Segment {
    /// The byte after FF.
    let marker: UInt8
    /// The bytes after the length, or empty for markers without a length.
    let body: Range<Int>

    /// Whether the segment contains size and components.
    var isFrameHeader: Bool {
      (0xC0 ... 0xCF).contains(self.marker) && ![0xC4, 0xC8, 0xCC].contains(self.marker)
    }
    /// Whether the segment begins a scan.
    var isScan: Bool { self.marker == 0xDA }
    /// Whether the picture ends.
    var isEnd: Bool { self.marker == 0xD9 }
  }

  /// The maximum number of FF bytes before a marker. A file of only such bytes would take long.
  private static let maxFill = 64

  /// The position, initially after the signature.
  private var offset = 2
  private var isInScan = false

  /// Returns the next segment, and moves past it.
  ///
  /// - Parameter file: The file, the same in all calls. It begins with the signature of JPEG.
  /// - Throws: ``CodecError`` with code `truncated` at the end of the file, or `corrupt`.
  mutating func next(in file: RawSpan) throws(CodecError) -> Segment {
    if self.isInScan { self.skipSamples(of: file) }
    self.isInScan = false
    let marker = try self.marker(in: file)
    switch marker {
    case 0x01, 0xD0 ... 0xD7, 0xD9:
      return Segment(marker: marker, body: self.offset ..< self.offset)
    default: break
    }
    guard let length = file.bigEndian16(at: self.offset) else { throw Self.truncated(file) }
    guard length >= 2 else {
      throw CodecError(.corrupt, "the segment at byte \(self.offset) states \(length) bytes")
    }
    let body = self.offset + 2 ..< self.offset + length
    self.offset += length
    self.isInScan = marker == 0xDA
    // Otherwise a scan whose samples are missing would be valid.
    guard body.upperBound <= file.byteCount else { throw Self.truncated(file) }
    return Segment(marker: marker, body: body)
  }

  /// Returns the error of a file that ends before the end of the picture.
  static func truncated(_ file: RawSpan) -> CodecError {
    CodecError(.truncated, "the file ends after \(file.byteCount) bytes, before the picture does")
  }

  private mutating func marker(in file: RawSpan) throws(CodecError) -> UInt8 {
    guard self.offset < file.byteCount else { throw Self.truncated(file) }
    guard file.byte(at: self.offset) == 0xFF else {
      throw CodecError(.corrupt, "there is no marker at byte \(self.offset)")
    }
    // Any number of FF may precede a marker; encoders write few.
    let start = self.offset
    repeat {
      self.offset += 1
      guard self.offset - start <= Self.maxFill else {
        throw CodecError(
          .corrupt, "there are more than \(Self.maxFill) fill bytes before byte \(self.offset)")
      }
    } while self.offset < file.byteCount && file.byte(at: self.offset) == 0xFF
    guard self.offset < file.byteCount else { throw Self.truncated(file) }
    self.offset += 1
    return file.byte(at: self.offset - 1)
  }

  /// Moves past coded samples to the next marker. Within the samples, FF is followed by 0 or by a
  /// restart marker.
  private mutating func skipSamples(of file: RawSpan) {
    while let found = file.firstFF(from: self.offset), found + 1 < file.byteCount {
      switch file.byte(at: found + 1) {
      case 0x00, 0xD0 ... 0xD7: self.offset = found + 2
      default:
        self.offset = found
        return
      }
    }
    self.offset = file.byteCount
  }
}

extension RawSpan {
  /// Returns the offset of the next FF, if any, by searching eight bytes at a time.
  fileprivate func firstFF(from start: Int) -> Int? {
    var offset = start
    while offset + 8 <= self.byteCount {
      // This turns FF into zero, and only zero bytes borrow into their highest bit.
      let word = unsafe ~self.unsafeLoadUnaligned(
        fromUncheckedByteOffset: offset, as: UInt64.self)
      if (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080 != 0 { break }
      offset += 8
    }
    while offset < self.byteCount {
      if self.byte(at: offset) == 0xFF { return offset }
      offset += 1
    }
    return nil
  }
}
