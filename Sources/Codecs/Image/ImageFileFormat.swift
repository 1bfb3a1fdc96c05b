/// A supported file format of still images.
public enum ImageFileFormat: String, Sendable, Hashable, CaseIterable {
  /// Portable Network Graphics: lossless.
  case png
  /// JPEG: lossy, without alpha.
  case jpeg

  /// Detects the format by the signature of a file. `nil` if the file has neither signature.
  ///
  /// - Parameter bytes: The file or its beginning, at least 8 bytes.
  public init?(sniffing bytes: RawSpan) {
    if PNGHeader.hasSignature(bytes) {
      self = .png
    } else if JPEGHeader.hasSignature(bytes) {
      self = .jpeg
    } else {
      return nil
    }
  }

  /// Selects the format by the extension of a file, in any case: `png`, `jpg` or `jpeg`. `nil` for
  /// other names.
  ///
  /// - Parameter fileName: A name or a path.
  public init?(fileName: String) {
    guard let dot = fileName.lastIndex(of: ".") else { return nil }
    switch fileName[fileName.index(after: dot)...].lowercased() {
    case "png": self = .png
    case "jpg", "jpeg": self = .jpeg
    default: return nil
    }
  }
}

extension RawSpan {
  /// Returns the byte at an offset.
  ///
  /// - Precondition: The offset is within the span.
  func byte(at offset: Int) -> UInt8 {
    precondition((0 ..< self.byteCount).contains(offset), "the offset lies outside the span")
    return unsafe self.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
  }

  /// Returns the 16-bit number at an offset, most significant byte first. `nil` past the end.
  func bigEndian16(at offset: Int) -> Int? {
    guard offset >= 0, offset <= self.byteCount - 2 else { return nil }
    return Int(self.byte(at: offset)) << 8 | Int(self.byte(at: offset + 1))
  }

  /// Returns the 32-bit number at an offset, most significant byte first. `nil` past the end.
  func bigEndian32(at offset: Int) -> Int? {
    guard let high = self.bigEndian16(at: offset), let low = self.bigEndian16(at: offset + 2) else {
      return nil
    }
    return high << 16 | low
  }
}
