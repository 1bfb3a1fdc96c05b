import SidelightKernels

/// What a JPEG file says of itself, read without any trust in it (ITU-T T.81, annex B).
struct JPEGHeader {
  /// The size in pixels, as stated: unchecked, but not zero.
  let size: FrameSize

  /// Whether the bytes begin as a JPEG does.
  static func hasSignature(_ file: RawSpan) -> Bool {
    file.byteCount >= 3 && file.byte(at: 0) == 0xFF && file.byte(at: 1) == 0xD8
      && file.byte(at: 2) == 0xFF
  }

  /// Reads the header, walks the segments to the end of the picture, and refuses what this product
  /// does not read.
  ///
  /// libjpeg calls a file that was cut off corrupt, or not even that; the walk tells.
  ///
  /// - Precondition: ``hasSignature(_:)``.
  /// - Throws: ``CodecError``: `truncated`, `corrupt`, or `unsupported`.
  init(_ file: RawSpan) throws(CodecError) {
    var header: JPEGHeader?
    var offset = 2
    while let marker = try Self.marker(file, &offset) {
      switch marker {
      case 0x01, 0xD0 ... 0xD7:  // markers without a segment
        continue
      case 0xD9:  // the end
        guard let header else {
          throw CodecError(.corrupt, "the picture ends before its header, at byte \(offset - 2)")
        }
        self = header
        return
      case 0xC0, 0xC1, 0xC2, 0xC9, 0xCA:  // sequential and progressive, Huffman and arithmetic
        if header == nil { header = try Self(frameHeader: file, at: offset) }
      case 0xC3, 0xC5 ... 0xC7, 0xCB, 0xCD ... 0xCF:
        throw CodecError(.unsupported, "lossless and hierarchical JPEG is not read")
      case 0xDA where header == nil:
        throw CodecError(.corrupt, "the picture starts before its header, at byte \(offset - 2)")
      default:
        break
      }
      guard let length = file.bigEndian16(at: offset) else {
        throw Self.truncated(file)
      }
      guard length >= 2 else {
        throw CodecError(.corrupt, "the segment at byte \(offset) states \(length) bytes")
      }
      offset += length
      if marker == 0xDA { Self.skipSamples(file, &offset) }
    }
    throw Self.truncated(file)
  }

  /// Moves past a marker; `nil` where the file ends.
  private static func marker(_ file: RawSpan, _ offset: inout Int) throws(CodecError) -> UInt8? {
    guard offset < file.byteCount else { return nil }
    guard file.byte(at: offset) == 0xFF else {
      throw CodecError(.corrupt, "there is no marker at byte \(offset)")
    }
    // Any number of FF may precede a marker.
    repeat { offset += 1 } while offset < file.byteCount && file.byte(at: offset) == 0xFF
    guard offset < file.byteCount else { return nil }
    offset += 1
    return file.byte(at: offset - 1)
  }

  /// Moves past coded samples, to the next marker that is not among them: FF is followed by 0
  /// there, or by a restart marker.
  private static func skipSamples(_ file: RawSpan, _ offset: inout Int) {
    while offset + 1 < file.byteCount {
      if file.byte(at: offset) == 0xFF {
        switch file.byte(at: offset + 1) {
        case 0x00, 0xD0 ... 0xD7: break
        default: return
        }
      }
      offset += 1
    }
    offset = file.byteCount
  }

  private static func truncated(_ file: RawSpan) -> CodecError {
    CodecError(.truncated, "the file ends after \(file.byteCount) bytes, before the picture does")
  }

  private init(frameHeader file: RawSpan, at offset: Int) throws(CodecError) {
    guard offset + 8 <= file.byteCount, let height = file.bigEndian16(at: offset + 3),
      let width = file.bigEndian16(at: offset + 5)
    else { throw Self.truncated(file) }
    let precision = file.byte(at: offset + 2)
    let components = file.byte(at: offset + 7)
    guard precision == 8 else {
      throw CodecError(.unsupported, "the samples have \(precision) bits, only 8 are read")
    }
    guard components == 1 || components == 3 else {
      throw CodecError(
        .unsupported,
        components == 4
          ? "CMYK and YCCK pictures are not read"
          : "the picture has \(components) components, only 1 and 3 are read")
    }
    guard height > 0 else {
      throw CodecError(.unsupported, "the header leaves the height to be stated later")
    }
    guard width > 0 else { throw CodecError(.corrupt, "the header states a width of 0") }
    self.size = FrameSize(width: width, height: height)
  }
}
