public import SidelightKernels

/// The header of a JPEG file (ITU-T T.81, annex B). The file may be hostile; reading it doesn't
/// allocate memory for pixels.
public struct JPEGHeader: Sendable, Hashable {
  /// The resolution of chroma.
  public enum Chroma: Sendable, Hashable {
    /// No chroma: the picture is grey.
    case none
    /// One sample per this number of columns and rows of pixels.
    case every(columns: Int, rows: Int)
  }

  /// The stated size in pixels; not checked, but not zero.
  public let size: FrameSize
  /// The stated resolution of chroma.
  public let chroma: Chroma
  /// The indices of the components' quantization tables, 0 to 3.
  let quantizationTables: [UInt8]
  /// The identifiers of the components.
  let components: [UInt8]

  /// Returns whether the file begins with the signature of JPEG.
  static func hasSignature(_ file: RawSpan) -> Bool {
    file.byteCount >= 3 && file.byte(at: 0) == 0xFF && file.byte(at: 1) == 0xD8
      && file.byte(at: 2) == 0xFF
  }

  /// Reads the file up to the frame header.
  ///
  /// - Throws: ``CodecError`` with code `unknownFormat`, `truncated`, `corrupt` or `unsupported`.
  public init(_ file: RawSpan) throws(CodecError) {
    guard Self.hasSignature(file) else {
      throw CodecError(.unknownFormat, "the \(file.byteCount) bytes are not a JPEG")
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

  /// The maximum number of segments before the frame header. They can hold a profile and a hundred
  /// MB of metadata, and are few enough to be read on the threads that handle frames.
  private static let maxSegments = 2048

  /// Reads a frame header.
  ///
  /// - Precondition: The segment is a frame header.
  private init(_ segment: JPEGMarkers.Segment, of file: RawSpan) throws(CodecError) {
    // Sequential and progressive, Huffman and arithmetic.
    guard [0xC0, 0xC1, 0xC2, 0xC9, 0xCA].contains(segment.marker) else {
      throw CodecError(.unsupported, "lossless and hierarchical JPEG is not supported")
    }
    let start = segment.body.lowerBound
    guard segment.body.count >= 6, let height = file.bigEndian16(at: start + 1),
      let width = file.bigEndian16(at: start + 3)
    else { throw CodecError(.corrupt, "the frame header has \(segment.body.count) bytes") }
    let precision = file.byte(at: start)
    guard precision == 8 else {
      throw CodecError(.unsupported, "the samples have \(precision) bits, only 8 are supported")
    }
    let count = Int(file.byte(at: start + 5))
    guard count == 1 || count == 3 else {
      throw CodecError(
        .unsupported,
        count == 4
          ? "CMYK and YCCK pictures are not supported"
          : "the picture has \(count) components, only 1 and 3 are supported")
    }
    guard segment.body.count == 6 + 3 * count else {
      throw CodecError(
        .corrupt, "the frame header has \(segment.body.count) bytes for \(count) components")
    }
    guard height > 0 else {
      throw CodecError(.unsupported, "the header does not state the height")
    }
    guard width > 0 else { throw CodecError(.corrupt, "the header states a width of 0") }
    self.size = FrameSize(width: width, height: height)
    let parts = (0 ..< count).map { start + 6 + 3 * $0 }
    self.components = parts.map { file.byte(at: $0) }
    self.quantizationTables = parts.map { file.byte(at: $0 + 2) }
    self.chroma = try Self.chroma(parts.map { file.byte(at: $0 + 1) })
  }

  /// Returns the resolution of chroma.
  ///
  /// - Parameter factors: The components' sampling factors: the horizontal one in the high four
  ///   bits, the vertical one in the low four bits.
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
      throw CodecError(.unsupported, "the chroma subsampling is not supported")
    }
    return .every(columns: Int(columns / chromaColumns), rows: Int(rows / chromaRows))
  }

  /// The geometry of frames that keep all chroma of the file.
  ///
  /// The format is `rgb24` if every pixel has a chroma sample, else `i420`, also for grey pictures,
  /// to let filters add colour. Range and matrix are full range and BT.601, as JFIF specifies.
  public var geometry: FrameGeometry {
    FrameGeometry(
      format: self.chroma == .every(columns: 1, rows: 1) ? .rgb24 : .i420, size: self.size,
      color: .jpeg)
  }
}

extension ColorDescription {
  /// The description of a JPEG's samples according to JFIF: full range and BT.601.
  public static let jpeg = ColorDescription(range: .full, matrix: .bt601)
}
