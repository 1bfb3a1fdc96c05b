public import SidelightKernels

/// Decodes a stream of access units, each to one frame.
///
/// The headers of a unit are checked before a library gets its bytes (``VideoHeaderReader``). Units
/// that are broken, or that depend on a picture that is missing, throw an error; so do all units
/// after them up to the next key frame, because libraries decode some of them wrongly without
/// reporting it. Calls block until the picture is decoded.
public final class VideoDecoder: @unchecked Sendable {  // one task at a time uses it
  let codec: VideoCodec
  private let pool: BufferPool
  private let limits: ImageLimits
  private var reader: VideoHeaderReader
  /// The library's decoder, which has decoded all units since a key frame.
  private var library: (any VideoDecoderLibrary)?
  /// The size of the pictures that the library's decoder has memory for.
  private var size: FrameSize?

  /// - Parameters:
  ///   - codec: The codec of the stream.
  ///   - pool: The pool of the frames.
  ///   - limits: The maximum size of a picture.
  /// - Throws: ``CodecError`` with code `unsupported` if this build lacks the codec.
  public init(codec: VideoCodec, pool: BufferPool, limits: ImageLimits) throws(CodecError) {
    guard codec.canDecode else { throw codec.missingLibrary }
    self.codec = codec
    self.pool = pool
    self.limits = limits
    self.reader = VideoHeaderReader(codec: codec, limits: limits)
  }

  /// Decodes the stream's next access unit.
  ///
  /// - Returns: The picture as `i420` in a buffer of the pool, without the edges that are cropped.
  /// - Throws: ``CodecError``, as ``VideoHeaderReader/header(of:)`` does. After an error the decoder
  ///   waits for a key frame: other units throw an error with code `missingReference`.
  public func decode(_ unit: RawSpan) throws(CodecError) -> Frame {
    do throws(CodecError) {
      let parsed = try self.reader.read(unit)
      return try self.decode(parsed, of: unit)
    } catch {
      self.library = nil
      throw error
    }
  }

  private func decode(_ parsed: VideoUnit, of unit: RawSpan) throws(CodecError) -> Frame {
    let header = parsed.header
    // A new decoder has no state that earlier units left, and memory for this size only.
    let isNew = self.library == nil || self.size != header.size
    if isNew {
      guard header.isKeyFrame else {
        throw CodecError(
          .missingReference, "an earlier picture could not be decoded; send a key frame")
      }
      self.library = try self.makeLibrary()
      self.size = header.size
    }
    guard let library = self.library else { throw self.codec.missingLibrary }
    let bytes = self.bytes(of: parsed, in: unit, isNew: isNew)
    let picture = try unsafe bytes.withUnsafeBufferPointer { bytes throws(CodecError) in
      try unsafe library.decode(bytes)
    }
    guard picture.size == header.size else {
      throw CodecError(
        .corrupt, "the picture is \(picture.size), the header states \(header.size)")
    }
    return try picture.frame(color: header.color, pool: self.pool)
  }

  /// Returns the bytes of a unit in the form in which the library reads them.
  private func bytes(of parsed: VideoUnit, in unit: RawSpan, isNew: Bool) -> [UInt8] {
    switch self.codec {
    case .h264:
      var bytes = parsed.header.isKeyFrame ? self.reader.parameterSets : []
      bytes.reserveCapacity(bytes.count + unit.byteCount + 4 * parsed.parts.count)
      for part in parsed.parts {
        bytes += [0, 0, 0, 1]
        bytes.append(contentsOf: unit, in: part)
      }
      return bytes
    case .vp9:
      // libvpx decodes bytes behind a frame as another frame, unless an index states the sizes.
      var bytes: [UInt8] = []
      bytes.reserveCapacity(unit.byteCount + 34)
      for part in parsed.parts { bytes.append(contentsOf: unit, in: part) }
      let marker = 0xD8 | UInt8(parsed.parts.count - 1)
      bytes.append(marker)
      for part in parsed.parts {
        for byte in 0 ..< 4 { bytes.append(UInt8(truncatingIfNeeded: part.count >> (8 * byte))) }
      }
      bytes.append(marker)
      return bytes
    case .vp8, .av1:
      var bytes = isNew ? self.reader.parameterSets : []
      bytes.append(contentsOf: unit, in: 0 ..< unit.byteCount)
      return bytes
    }
  }

  private func makeLibrary() throws(CodecError) -> any VideoDecoderLibrary {
    #if Codecs
      switch self.codec {
      case .h264: try OpenH264Decoder()
      case .vp8: try VPXDecoder(isVP9: false)
      case .vp9: try VPXDecoder(isVP9: true)
      case .av1: try Dav1dDecoder(limits: self.limits)
      }
    #else
      throw self.codec.missingLibrary
    #endif
  }
}

extension [UInt8] {
  fileprivate mutating func append(contentsOf bytes: RawSpan, in range: Range<Int>) {
    unsafe bytes.withUnsafeBytes { unsafe self.append(contentsOf: $0[range]) }
  }
}
