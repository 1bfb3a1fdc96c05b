package import SidelightKernels

/// Reads numbers bit by bit, most significant bit first, as the headers of video do.
///
/// Past the end of the bytes every bit is 0, and ``isExhausted`` is set: a parser reads all of its
/// fields, and checks once.
struct BitReader {
  private let bytes: [UInt8]
  /// The position of the next bit.
  private(set) var position = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Whether more bits were read than there are.
  var isExhausted: Bool { self.position > 8 * self.bytes.count }

  /// Reads one bit.
  mutating func flag() -> Bool {
    let (byte, bit) = (self.position >> 3, self.position & 7)
    // A parser may read on after the end, in loops of up to a few thousand fields.
    self.position += 1
    return byte < self.bytes.count && self.bytes[byte] >> (7 - bit) & 1 == 1
  }

  /// Reads an unsigned number of up to 32 bits.
  mutating func bits(_ count: Int) -> Int {
    var value = 0
    for _ in 0 ..< count { value = value << 1 | (self.flag() ? 1 : 0) }
    return value
  }

  /// Skips bits.
  mutating func skip(_ count: Int) {
    self.position += count
  }

  /// Reads an unsigned Exp-Golomb code (H.264, section 9.1). A code of more than 32 leading zeros,
  /// which no field allows, exhausts the reader.
  mutating func unsigned() -> Int {
    var zeros = 0
    while !self.flag() {
      zeros += 1
      if zeros > 32 {
        self.position = 8 * self.bytes.count + 1
        return 0
      }
    }
    return (1 << zeros) - 1 + self.bits(zeros)
  }

  /// Reads a signed Exp-Golomb code.
  mutating func signed() -> Int {
    let code = self.unsigned()
    return code.isMultiple(of: 2) ? -(code / 2) : (code + 1) / 2
  }

  /// Reads a variable-length unsigned code of AV1 (section 4.10.3).
  mutating func variableLength() -> Int {
    var zeros = 0
    while !self.flag() {
      zeros += 1
      if zeros >= 32 || self.isExhausted { return Int(UInt32.max) }
    }
    return (1 << zeros) - 1 + self.bits(zeros)
  }
}

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
