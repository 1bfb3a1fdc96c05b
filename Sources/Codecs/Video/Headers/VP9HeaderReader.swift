import SidelightKernels

/// Reads the headers of frames and superframes of VP9 (VP9 Bitstream & Decoding Process
/// Specification, version 0.6, section 6.2 and annex B).
struct VP9HeaderReader: CodecHeaderReader {
  /// The fields of a frame.
  private struct FrameHeader {
    var isKeyFrame = false
    var isShown = true
    var refreshes = 0
    /// Whether the frame does not use the probabilities, segments and motion of earlier frames.
    var isErrorResilient = true
  }

  private let limits: ImageLimits
  /// The size and colours of the last key frame.
  private var stream: (size: FrameSize, color: ColorDescription)?
  /// Whether all frames since the key frame are error resilient. Other frames depend on all frames
  /// before them, even on those that refresh nothing.
  private var isErrorResilient = true

  /// The bytes of a frame that contain the fields that are read.
  private static let headerBytes = 32

  init(limits: ImageLimits) {
    self.limits = limits
  }

  var parameterSets: [UInt8] { [] }

  mutating func read(_ unit: RawSpan) throws(CodecError) -> VideoUnit {
    var next = self
    let result = try next.readFrames(unit)
    self = next
    return result
  }

  private mutating func readFrames(_ unit: RawSpan) throws(CodecError) -> VideoUnit {
    let parts = try Self.frames(of: unit)
    var frames: [FrameHeader] = []
    for part in parts {
      let end = min(part.upperBound, part.lowerBound + Self.headerBytes)
      let frame = try self.frame(
        BitReader(unit.bytes(in: part.lowerBound ..< end)), isFirst: frames.isEmpty)
      if frame.isKeyFrame { self.isErrorResilient = true }
      if !frame.isErrorResilient, !frame.isKeyFrame { self.isErrorResilient = false }
      frames.append(frame)
    }
    switch frames.count(where: \.isShown) {
    case 1: break
    case 0: throw CodecError(.unsupported, "the unit has no frame of VP9 that is shown")
    default:
      throw CodecError(.unsupported, "the unit has two pictures of VP9; send one per frame")
    }
    guard let stream = self.stream else { throw .noKeyFrame }
    return VideoUnit(
      header: VideoHeader(
        isKeyFrame: frames[0].isKeyFrame, size: stream.size, color: stream.color,
        isDisposable: self.isErrorResilient && frames.allSatisfy { $0.refreshes == 0 },
        temporalLayer: nil),
      parts: parts)
  }

  private mutating func frame(
    _ bits: consuming BitReader, isFirst: Bool
  ) throws(CodecError) -> FrameHeader {
    guard bits.bits(2) == 2 else {
      throw CodecError(.unknownFormat, "the bytes are not a frame of VP9")
    }
    let profile = bits.bits(1) | bits.bits(1) << 1
    guard profile == 0 else {
      throw CodecError(
        .unsupported,
        "the profile of VP9 is \(profile); only profile 0, 8 bits and 4:2:0, is supported")
    }
    var frame = FrameHeader()
    if bits.flag() {  // shows an earlier frame
      guard self.stream != nil else { throw .noKeyFrame }
      return frame
    }
    frame.isKeyFrame = !bits.flag()
    frame.isShown = bits.flag()
    frame.isErrorResilient = bits.flag()
    if frame.isKeyFrame {
      guard isFirst else {
        throw CodecError(.unsupported, "the unit has a key frame of VP9 after another frame")
      }
      try Self.readSyncCode(&bits)
      let color = try Self.color(&bits)
      let size = FrameSize(width: bits.bits(16) + 1, height: bits.bits(16) + 1)
      try self.limits.check(size)
      self.stream = (size, color)
      frame.refreshes = 0xFF
    } else {
      guard let stream = self.stream else { throw .noKeyFrame }
      let isIntraOnly = !frame.isShown && bits.flag()
      if !frame.isErrorResilient { bits.skip(2) }
      if isIntraOnly { try Self.readSyncCode(&bits) }
      frame.refreshes = bits.bits(8)
      var hasSizeOfReference = false
      if !isIntraOnly {
        bits.skip(3 * 4)
        // All references have the size of the key frame.
        for _ in 0 ..< 3 where !hasSizeOfReference { hasSizeOfReference = bits.flag() }
      }
      if !hasSizeOfReference {
        let size = FrameSize(width: bits.bits(16) + 1, height: bits.bits(16) + 1)
        guard size == stream.size || bits.isExhausted else {
          throw CodecError(
            .unsupported,
            "the size of VP9 changes from \(stream.size) to \(size) without a key frame")
        }
      }
    }
    guard !bits.isExhausted else {
      throw CodecError(.truncated, "the frame of VP9 ends within its header")
    }
    return frame
  }

  private static func readSyncCode(_ bits: inout BitReader) throws(CodecError) {
    guard bits.bits(24) == 0x49_8342 else {
      throw CodecError(.corrupt, "the frame of VP9 lacks its sync code")
    }
  }

  private static func color(_ bits: inout BitReader) throws(CodecError) -> ColorDescription {
    let space = bits.bits(3)
    let matrix: YUVMatrix
    switch space {
    case 0, 1, 3: matrix = .bt601
    case 2: matrix = .bt709
    default:
      throw CodecError(
        .unsupported,
        "the colour space of VP9 is \(space); BT.601 (1, 3) and BT.709 (2) are supported")
    }
    return ColorDescription(range: bits.flag() ? .full : .video, matrix: matrix)
  }

  /// Returns the ranges of the frames of a unit, which is a frame or has an index at its end.
  private static func frames(of unit: RawSpan) throws(CodecError) -> [Range<Int>] {
    guard unit.byteCount > 0 else { throw CodecError(.truncated, "the frame of VP9 is empty") }
    let marker = unit.byte(at: unit.byteCount - 1)
    guard marker & 0xE0 == 0xC0 else { return [0 ..< unit.byteCount] }
    let count = Int(marker & 7) + 1
    let bytesPerSize = Int(marker >> 3 & 3) + 1
    let indexStart = unit.byteCount - 2 - count * bytesPerSize
    guard indexStart > 0, unit.byte(at: indexStart) == marker else {
      return [0 ..< unit.byteCount]
    }
    var result: [Range<Int>] = []
    var start = 0
    for frame in 0 ..< count {
      var size = 0
      for byte in 0 ..< bytesPerSize {
        size |= Int(unit.byte(at: indexStart + 1 + frame * bytesPerSize + byte)) << (8 * byte)
      }
      guard size <= indexStart - start else {
        throw CodecError(.truncated, "frame \(frame) of the superframe of VP9 ends after it")
      }
      if size > 0 { result.append(start ..< start + size) }
      start += size
    }
    guard !result.isEmpty else {
      throw CodecError(.corrupt, "the superframe of VP9 has no frames")
    }
    return result
  }
}
