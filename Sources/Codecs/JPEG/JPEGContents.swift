import SidelightKernels

/// What a walk through a whole JPEG file finds, beyond its header: that it is whole, how many scans
/// it has, and whether it brings the tables that its samples are coded with.
///
/// libjpeg calls a file that was cut off corrupt, or not even that; the walk tells. And an instance
/// of it remembers the tables of earlier files, for those that come without: no caller's picture
/// shall be decoded with another's.
struct JPEGContents {
  /// How samples are coded.
  private struct Coding {
    /// A part of the coefficients, or of their bits, with each scan.
    var isProgressive = false
    /// By arithmetic codes, which need no tables.
    var isArithmetic = false
  }

  /// The file's header.
  let header: JPEGHeader
  /// Whether the file defines each table before it uses it.
  private(set) var isSelfContained = true

  private var scans = 0
  /// A bit for each quantization table that is defined.
  private var quantization: UInt16 = 0
  /// A bit for each table of Huffman codes that is defined: four for DC, then four for AC.
  private var huffman: UInt16 = 0

  /// Walks to the end of the picture.
  ///
  /// - Parameter limits: Say how many scans a picture may have: each costs a pass over it, however few
  ///   bytes it has. Encoders that search for the best script write a few dozen, ordinary ones ten; so
  ///   it is 64, but no more than come to 16 of the largest picture.
  /// - Precondition: The picture is within the limits.
  /// - Throws: ``CodecError``: `truncated`, `corrupt`, `unsupported`, or `limitExceeded` for too many
  ///   scans.
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
      guard let place = self.header.components.firstIndex(of: component) else {
        return self.isSelfContained = false
      }
      let quantization = UInt16(self.header.quantizationTables[place] & 15)
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
