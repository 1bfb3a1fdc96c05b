package import SidelightKernels

/// The facts in the headers of an access unit. They are read before a library gets the bytes.
package struct VideoHeader: Sendable, Hashable {
  /// Whether decoding can start with the unit.
  package var isKeyFrame: Bool
  /// The size of the picture, which is the size of the key frame that the unit depends on.
  package var size: FrameSize
  /// The range and the matrix of the stream. VP8 does not state them: video range and BT.601 unless
  /// the sender states others.
  package var color: ColorDescription
  /// Whether no later picture depends on the unit.
  package var isDisposable: Bool
  /// The temporal layer. `nil` if the unit does not state it.
  package var temporalLayer: Int?
}

/// Reads the headers of a stream's access units, which may be hostile. It refuses those that are
/// not supported or exceed the limits, and remembers parameter sets. It needs no library.
package struct VideoHeaderReader: Sendable {
  private var reader: any CodecHeaderReader

  /// - Parameters:
  ///   - codec: The codec of the stream.
  ///   - limits: The maximum size of a picture.
  package init(codec: VideoCodec, limits: ImageLimits) {
    switch codec {
    case .h264: self.reader = H264HeaderReader(limits: limits)
    case .vp8: self.reader = VP8HeaderReader(limits: limits)
    case .vp9: self.reader = VP9HeaderReader(limits: limits)
    case .av1: self.reader = AV1HeaderReader(limits: limits)
    }
  }

  /// Reads the headers of the stream's next access unit.
  ///
  /// - Throws: ``CodecError``: `missingReference` if the headers show that the unit depends on a
  ///   unit that the reader has not seen; `unsupported` and `limitExceeded` for streams that would
  ///   be valid; `corrupt`, `truncated` or `unknownFormat` otherwise. The unit then does not change
  ///   the reader.
  package mutating func header(of unit: RawSpan) throws(CodecError) -> VideoHeader {
    try self.read(unit).header
  }

  mutating func read(_ unit: RawSpan) throws(CodecError) -> VideoUnit {
    try self.reader.read(unit)
  }

  /// The stream's parameter sets, in the form in which a library reads them.
  var parameterSets: [UInt8] { self.reader.parameterSets }
}

/// An access unit whose headers are accepted.
struct VideoUnit: Sendable {
  let header: VideoHeader
  /// The ranges of the unit's bytes that a library gets: NAL units of H.264 without sequence
  /// parameters, frames of VP9, otherwise the whole unit.
  let parts: [Range<Int>]
}

/// Reads the headers of one codec.
protocol CodecHeaderReader: Sendable {
  /// Reads the headers of the next access unit. A unit that is refused does not change the reader.
  mutating func read(_ unit: RawSpan) throws(CodecError) -> VideoUnit
  /// The stream's parameter sets, in the form in which a library reads them; may be empty.
  var parameterSets: [UInt8] { get }
}

extension CodecError {
  /// The error of a unit that comes before the first key frame.
  static let noKeyFrame = CodecError(
    .missingReference, "no key frame came before the picture; send a key frame first")
}
