import SidelightKernels

/// What a PNG file says of itself, read without any trust in it (ISO/IEC 15948, section 5).
struct PNGHeader {
  /// The size in pixels, as stated: unchecked.
  let size: FrameSize

  /// Whether the bytes begin as a PNG does.
  static func hasSignature(_ file: RawSpan) -> Bool {
    let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    guard file.byteCount >= signature.count else { return false }
    return signature.indices.allSatisfy { file.byte(at: $0) == signature[$0] }
  }

  /// Reads the header, and walks the chunks to the end of the picture.
  ///
  /// libpng stops when it has its pixels, so only the walk tells a file that was cut off shortly
  /// before its end from a whole one.
  ///
  /// - Precondition: ``hasSignature(_:)``.
  /// - Throws: ``CodecError``: `truncated` or `corrupt`.
  init(_ file: RawSpan) throws(CodecError) {
    guard let length = file.bigEndian32(at: 8), let type = file.bigEndian32(at: 12),
      let width = file.bigEndian32(at: 16), let height = file.bigEndian32(at: 20)
    else { throw CodecError(.truncated, "the file ends within its header") }
    guard length == 13, type == Self.headerChunk else {
      throw CodecError(.corrupt, "the file does not start with a header chunk")
    }
    self.size = FrameSize(width: width, height: height)
    try Self.walk(file)
  }

  private static let headerChunk = 0x4948_4452  // IHDR
  private static let endChunk = 0x4945_4E44  // IEND

  private static func walk(_ file: RawSpan) throws(CodecError) {
    var offset = 8
    while let length = file.bigEndian32(at: offset), let type = file.bigEndian32(at: offset + 4) {
      guard length <= Int(Int32.max) else {
        throw CodecError(.corrupt, "the chunk at byte \(offset) states \(length) bytes")
      }
      offset += 12 + length
      guard offset <= file.byteCount else { break }
      if type == Self.endChunk { return }
    }
    throw CodecError(
      .truncated, "the file ends after \(file.byteCount) bytes, before the picture does")
  }
}
