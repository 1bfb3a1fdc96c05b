public import SidelightKernels

extension ImageDecoder {
  /// The size of the picture that a PNG or JPEG file states in its header; nothing is decoded, and no
  /// memory taken.
  ///
  /// - Parameters:
  ///   - file: The whole file.
  ///   - limits: How large the picture may be.
  /// - Throws: ``CodecError`` for a file that is neither, whose header is unsound, or whose picture is
  ///   larger than the limits.
  public static func size(
    of file: RawSpan, limits: ImageLimits = ImageLimits()
  ) throws(CodecError) -> FrameSize {
    let size: FrameSize
    switch ImageFileFormat(sniffing: file) {
    case .png: size = try PNGHeader(file).size
    case .jpeg: size = try JPEGHeader(file).size
    case nil:
      throw CodecError(.unknownFormat, "the \(file.byteCount) bytes are neither PNG nor JPEG")
    }
    try limits.check(size)
    return size
  }
}
