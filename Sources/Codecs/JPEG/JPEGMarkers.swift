/// Walks the segments of a JPEG file, without any trust in it (ITU-T T.81, annex B).
struct JPEGMarkers {
  /// One marker, and where what belongs to it lies in the file.
  struct Segment {
    /// The byte after FF.
    let marker: UInt8
    /// What follows the length, for markers that have one; else empty.
    let body: Range<Int>

    /// Whether the segment states size and components.
    var isFrameHeader: Bool {
      (0xC0 ... 0xCF).contains(self.marker) && ![0xC4, 0xC8, 0xCC].contains(self.marker)
    }
    /// Whether a scan begins.
    var isScan: Bool { self.marker == 0xDA }
    /// Whether the picture is over.
    var isEnd: Bool { self.marker == 0xD9 }
  }

  /// The most bytes of FF before a marker: a file of nothing else would be long to walk through.
  private static let maxFill = 64

  /// Just past the signature.
  private var offset = 2
  private var isInScan = false

  /// Moves past the next segment.
  ///
  /// - Parameter file: The same at each call; it begins with JPEG's signature.
  /// - Throws: ``CodecError``: `truncated` where the file ends, or `corrupt`.
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
    // Past the end there is no next segment either; but a scan's samples may not even begin.
    guard body.upperBound <= file.byteCount else { throw Self.truncated(file) }
    return Segment(marker: marker, body: body)
  }

  /// That the file ends before the picture does.
  static func truncated(_ file: RawSpan) -> CodecError {
    CodecError(.truncated, "the file ends after \(file.byteCount) bytes, before the picture does")
  }

  private mutating func marker(in file: RawSpan) throws(CodecError) -> UInt8 {
    guard self.offset < file.byteCount else { throw Self.truncated(file) }
    guard file.byte(at: self.offset) == 0xFF else {
      throw CodecError(.corrupt, "there is no marker at byte \(self.offset)")
    }
    // Any number of FF may precede a marker; nobody writes many.
    let start = self.offset
    repeat {
      self.offset += 1
      guard self.offset - start <= Self.maxFill else {
        throw CodecError(
          .corrupt, "more than \(Self.maxFill) bytes fill up before byte \(self.offset)")
      }
    } while self.offset < file.byteCount && file.byte(at: self.offset) == 0xFF
    guard self.offset < file.byteCount else { throw Self.truncated(file) }
    self.offset += 1
    return file.byte(at: self.offset - 1)
  }

  /// Moves past coded samples, to the next marker that is not among them: FF is followed by 0
  /// there, or by a restart marker.
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
  /// The next byte that is FF, eight bytes at a time; `nil` if there is none.
  fileprivate func firstFF(from start: Int) -> Int? {
    var offset = start
    while offset + 8 <= self.byteCount {
      // A byte that is FF is zero after this, and only zero bytes borrow into their highest bit.
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
