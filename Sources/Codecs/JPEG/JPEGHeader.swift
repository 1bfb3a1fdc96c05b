public import SidelightKernels

/// What a JPEG file says of itself, read without any trust in it and without memory (ITU-T T.81,
/// annex B).
public struct JPEGHeader: Sendable, Hashable {
  /// How finely the file keeps chroma.
  public enum Chroma: Sendable, Hashable {
    /// There is none: the picture is grey.
    case none
    /// A sample for so many pixels across, and so many down.
    case every(columns: Int, rows: Int)
  }

  /// The size in pixels, as stated: unchecked, but not zero.
  public let size: FrameSize
  /// How finely chroma is kept, as stated.
  public let chroma: Chroma
  /// For each component which of the four quantization tables it uses.
  let quantizationTables: [UInt8]
  /// The components' own numbers.
  let components: [UInt8]

  /// Whether the bytes begin as a JPEG does.
  static func hasSignature(_ file: RawSpan) -> Bool {
    file.byteCount >= 3 && file.byte(at: 0) == 0xFF && file.byte(at: 1) == 0xD8
      && file.byte(at: 2) == 0xFF
  }

  /// Reads as far as the frame header, and refuses what this product does not read.
  ///
  /// - Throws: ``CodecError``: `unknownFormat`, `truncated`, `corrupt`, or `unsupported`.
  public init(_ file: RawSpan) throws(CodecError) {
    guard Self.hasSignature(file) else {
      throw CodecError(.unknownFormat, "the \(file.byteCount) bytes are no JPEG")
    }
    var markers = JPEGMarkers()
    for _ in 0 ..< Self.maxSegments {
      let segment = try markers.next(in: file)
      if segment.isFrameHeader {
        self = try JPEGHeader(segment, of: file)
        return
      }
      guard !segment.isScan, !segment.isEnd else {
        throw CodecError(
          .corrupt,
          "the picture \(segment.isScan ? "starts" : "ends") before its header, at byte "
            + "\(segment.body.lowerBound)")
      }
    }
    throw CodecError(
      .corrupt, "there is no header among the first \(Self.maxSegments) segments")
  }

  /// The most segments before the frame header: room for a profile and a hundred MB of metadata, and
  /// no more work than the threads that carry frames can do in passing.
  private static let maxSegments = 2048

  /// - Precondition: The segment is a frame header.
  private init(_ segment: JPEGMarkers.Segment, of file: RawSpan) throws(CodecError) {
    // Sequential and progressive, Huffman and arithmetic.
    guard [0xC0, 0xC1, 0xC2, 0xC9, 0xCA].contains(segment.marker) else {
      throw CodecError(.unsupported, "lossless and hierarchical JPEG is not read")
    }
    let start = segment.body.lowerBound
    guard segment.body.count >= 6, let height = file.bigEndian16(at: start + 1),
      let width = file.bigEndian16(at: start + 3)
    else { throw CodecError(.corrupt, "the frame header has \(segment.body.count) bytes") }
    let precision = file.byte(at: start)
    guard precision == 8 else {
      throw CodecError(.unsupported, "the samples have \(precision) bits, only 8 are read")
    }
    let count = Int(file.byte(at: start + 5))
    guard count == 1 || count == 3 else {
      throw CodecError(
        .unsupported,
        count == 4
          ? "CMYK and YCCK pictures are not read"
          : "the picture has \(count) components, only 1 and 3 are read")
    }
    guard segment.body.count == 6 + 3 * count else {
      throw CodecError(
        .corrupt, "the frame header has \(segment.body.count) bytes for \(count) components")
    }
    guard height > 0 else {
      throw CodecError(.unsupported, "the header leaves the height to be stated later")
    }
    guard width > 0 else { throw CodecError(.corrupt, "the header states a width of 0") }
    self.size = FrameSize(width: width, height: height)
    let parts = (0 ..< count).map { start + 6 + 3 * $0 }
    self.components = parts.map { file.byte(at: $0) }
    self.quantizationTables = parts.map { file.byte(at: $0 + 2) }
    self.chroma = try Self.chroma(parts.map { file.byte(at: $0 + 1) })
  }

  /// - Parameter factors: For each component how many of its samples stand side by side where the
  ///   coarsest has one (high four bits), and below each other (low four bits).
  private static func chroma(_ factors: [UInt8]) throws(CodecError) -> Chroma {
    for factor in factors where !(1 ... 4).contains(factor >> 4) || !(1 ... 4).contains(factor & 15)
    {
      throw CodecError(.corrupt, "a component's sampling is \(factor >> 4)x\(factor & 15)")
    }
    guard factors.count == 3 else { return .none }
    let (columns, rows) = (factors[0] >> 4, factors[0] & 15)
    let (chromaColumns, chromaRows) = (factors[1] >> 4, factors[1] & 15)
    guard factors[1] == factors[2], columns.isMultiple(of: chromaColumns),
      rows.isMultiple(of: chromaRows)
    else {
      throw CodecError(.unsupported, "the picture's chroma is laid out as in no known layout")
    }
    return .every(columns: Int(columns / chromaColumns), rows: Int(rows / chromaRows))
  }

  /// What frames the file is best decoded to: those in which none of its chroma is lost.
  ///
  /// `rgb24` where each pixel has chroma of its own, else `i420`, grey pictures too: so a filter
  /// that brings colour finds room for it. Full range and BT.601, as JFIF says.
  public var geometry: FrameGeometry {
    FrameGeometry(
      format: self.chroma == .every(columns: 1, rows: 1) ? .rgb24 : .i420, size: self.size,
      color: .jpeg)
  }
}

extension ColorDescription {
  /// What JFIF says of every JPEG's samples: full range and BT.601.
  public static let jpeg = ColorDescription(range: .full, matrix: .bt601)
}
