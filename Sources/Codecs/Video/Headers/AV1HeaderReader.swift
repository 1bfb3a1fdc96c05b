import SidelightKernels

/// Reads the headers of temporal units of AV1 (AV1 Bitstream & Decoding Process Specification,
/// sections 5.3 to 5.9) in the low-overhead format.
struct AV1HeaderReader: CodecHeaderReader {
  /// The fields of a frame.
  private struct FrameHeader {
    var isKeyFrame = false
    var isShown = true
    var refreshes = 0
    var size: FrameSize
  }

  /// An open bitstream unit.
  private struct Unit {
    let type: UInt8
    let temporalLayer: Int?
    let whole: Range<Int>
    let payload: Range<Int>
  }

  private let limits: ImageLimits
  private var sequence: AV1SequenceHeader?
  /// The bytes of the sequence header.
  private(set) var parameterSets: [UInt8] = []
  /// The size and colours of the last key frame.
  private var stream: (size: FrameSize, color: ColorDescription)?

  /// The bytes of a frame that contain the fields that are read.
  private static let headerBytes = 256
  private static let maxUnits = 1024

  init(limits: ImageLimits) {
    self.limits = limits
  }

  mutating func read(_ unit: RawSpan) throws(CodecError) -> VideoUnit {
    var next = self
    let result = try next.readUnits(unit)
    self = next
    return result
  }

  private mutating func readUnits(_ bytes: RawSpan) throws(CodecError) -> VideoUnit {
    var frames: [FrameHeader] = []
    var temporalLayer: Int?
    var hasNewSequence = false
    for (index, unit) in try Self.units(of: bytes).enumerated() {
      switch unit.type {
      case 1: try hasNewSequence = self.store(bytes, unit) || hasNewSequence
      case 2 where index > 0:
        throw CodecError(
          .unsupported, "the unit has more than one temporal unit of AV1; send one per frame")
      case 3, 6:
        guard frames.last?.isShown != true else {
          throw CodecError(.unsupported, "the unit has two pictures of AV1; send one per frame")
        }
        let end = min(unit.payload.upperBound, unit.payload.lowerBound + Self.headerBytes)
        frames.append(
          try self.frame(
            BitReader(bytes.bytes(in: unit.payload.lowerBound ..< end)),
            layer: unit.temporalLayer ?? 0, isFirst: frames.isEmpty))
        temporalLayer = unit.temporalLayer
      case 8: throw CodecError(.unsupported, "tile lists of AV1 are not supported")
      default: break  // tiles (4), metadata (5), repeated headers (7), padding (15)
      }
    }
    guard frames.last?.isShown == true else {
      throw CodecError(.unsupported, "the unit has no frame of AV1 that is shown")
    }
    guard let stream = self.stream else { throw .noKeyFrame }
    guard frames[0].isKeyFrame || !hasNewSequence else {
      throw CodecError(.unsupported, "the sequence header of AV1 changes without a key frame")
    }
    guard frames.allSatisfy({ $0.size == stream.size }) else {
      throw CodecError(.unsupported, "the size of AV1 changes without a key frame")
    }
    return VideoUnit(
      header: VideoHeader(
        isKeyFrame: frames[0].isKeyFrame, size: stream.size, color: stream.color,
        isDisposable: frames.allSatisfy { $0.refreshes == 0 }, temporalLayer: temporalLayer),
      parts: [0 ..< bytes.byteCount])
  }

  /// Stores a sequence header. Returns whether it differs from the stored one.
  private mutating func store(_ bytes: RawSpan, _ unit: Unit) throws(CodecError) -> Bool {
    let stored = bytes.bytes(in: unit.whole)
    guard stored != self.parameterSets else { return false }
    guard stored.count <= 1024 else {
      throw CodecError(.corrupt, "the sequence header of AV1 has \(stored.count) bytes")
    }
    self.sequence = try AV1SequenceHeader(BitReader(bytes.bytes(in: unit.payload)))
    self.parameterSets = stored
    return true
  }

  private mutating func frame(
    _ bits: consuming BitReader, layer: Int, isFirst: Bool
  ) throws(CodecError) -> FrameHeader {
    guard let sequence = self.sequence else { throw .noKeyFrame }
    if bits.flag() {  // shows an earlier frame
      guard let stream = self.stream else { throw .noKeyFrame }
      // An earlier key frame that is shown would refresh all references. Its kind is not known here.
      return FrameHeader(refreshes: 0xFF, size: stream.size)
    }
    let type = bits.bits(2)
    let isIntra = type == 0 || type == 2
    guard type != 3 else {
      throw CodecError(.unsupported, "switch frames of AV1 are not supported")
    }
    let isShown = bits.flag()
    if isShown {
      if sequence.statesPresentationTimes { bits.skip(sequence.presentationTimeBits) }
    } else {
      bits.skip(1)
    }
    let isKeyFrame = type == 0 && isShown
    let isErrorResilient = isKeyFrame || bits.flag()
    bits.skip(1)  // disable_cdf_update
    let hasScreenTools = sequence.screenTools ?? bits.flag()
    if hasScreenTools, sequence.integerMotion == nil { bits.skip(1) }
    bits.skip(sequence.frameIdentifierBits)
    let statesSize = bits.flag()
    bits.skip(sequence.orderBits)
    if !isIntra, !isErrorResilient { bits.skip(3) }
    if sequence.hasDecoderModel, bits.flag() {
      for point in sequence.operatingPoints where point.hasDecoderModel {
        let isIncluded = point.layers >> layer & 1 == 1 && point.layers >> 8 & 1 == 1
        if point.layers == 0 || isIncluded { bits.skip(sequence.removalTimeBits) }
      }
    }
    let refreshes = isKeyFrame ? 0xFF : bits.bits(8)
    if !isIntra || refreshes != 0xFF, isErrorResilient { bits.skip(8 * sequence.orderBits) }
    var size = sequence.maxSize
    if statesSize {
      guard isIntra else {
        throw CodecError(.unsupported, "the size of AV1 changes without a key frame")
      }
      size = FrameSize(
        width: bits.bits(sequence.widthBits) + 1, height: bits.bits(sequence.heightBits) + 1)
    }
    guard !bits.isExhausted else {
      throw CodecError(.truncated, "the frame of AV1 ends within its header")
    }
    if isKeyFrame {
      guard isFirst else {
        throw CodecError(.unsupported, "the unit has a key frame of AV1 after another frame")
      }
      try self.limits.check(size)
      self.stream = (size, sequence.color)
    }
    guard self.stream != nil else { throw .noKeyFrame }
    return FrameHeader(
      isKeyFrame: isKeyFrame, isShown: isShown, refreshes: refreshes, size: size)
  }

  /// Returns the open bitstream units of a temporal unit.
  private static func units(of bytes: RawSpan) throws(CodecError) -> [Unit] {
    var result: [Unit] = []
    var offset = 0
    while offset < bytes.byteCount {
      let header = bytes.byte(at: offset)
      guard header & 0x80 == 0 else {
        throw CodecError(.unknownFormat, "byte \(offset) is not an open bitstream unit of AV1")
      }
      var start = offset + 1
      var temporalLayer: Int?
      if header & 4 != 0 {
        guard start < bytes.byteCount else { break }
        let layers = bytes.byte(at: start)
        guard layers >> 3 & 3 == 0 else {
          throw CodecError(.unsupported, "spatial layers of AV1 are not supported")
        }
        temporalLayer = Int(layers >> 5)
        start += 1
      }
      var end = bytes.byteCount
      if header & 2 != 0 {
        guard let (size, length) = Self.size(bytes, at: start), size <= end - start - length else {
          throw CodecError(.truncated, "a unit of AV1 ends after the \(end) bytes")
        }
        start += length
        end = start + size
      }
      result.append(
        Unit(
          type: header >> 3 & 15, temporalLayer: temporalLayer, whole: offset ..< end,
          payload: start ..< end))
      guard result.count <= Self.maxUnits else {
        throw CodecError(.limitExceeded, "the unit has more than \(Self.maxUnits) units of AV1")
      }
      offset = end
    }
    guard !result.isEmpty else { throw CodecError(.truncated, "the unit of AV1 is empty") }
    return result
  }

  /// Reads a size in the variable-length code of section 4.10.5.
  private static func size(_ bytes: RawSpan, at offset: Int) -> (size: Int, length: Int)? {
    var size = 0
    for index in 0 ..< 8 where offset + index < bytes.byteCount {
      let byte = bytes.byte(at: offset + index)
      size |= Int(byte & 0x7F) << (7 * index)
      if byte & 0x80 == 0 { return size <= Int(UInt32.max) ? (size, index + 1) : nil }
    }
    return nil
  }
}

/// The sequence header of AV1 (section 5.5), as far as frame headers need it.
struct AV1SequenceHeader: Sendable {
  struct OperatingPoint: Sendable {
    let layers: Int
    var hasDecoderModel = false
  }

  private(set) var operatingPoints: [OperatingPoint] = []
  private(set) var hasDecoderModel = false
  private(set) var statesPresentationTimes = false
  private(set) var presentationTimeBits = 0
  private(set) var removalTimeBits = 0
  private(set) var widthBits = 0
  private(set) var heightBits = 0
  private(set) var maxSize = FrameSize(width: 0, height: 0)
  private(set) var frameIdentifierBits = 0
  private(set) var orderBits = 0
  /// Whether frames use tools for screen content; `nil` if each states it.
  private(set) var screenTools: Bool?
  /// Whether motion is in whole pixels; `nil` if frames state it.
  private(set) var integerMotion: Bool?
  private(set) var color = ColorDescription()

  init(_ bits: consuming BitReader) throws(CodecError) {
    let profile = bits.bits(3)
    guard profile == 0 else {
      throw CodecError(
        .unsupported,
        "the profile of AV1 is \(profile); only Main (0), 8 bits and 4:2:0, is supported")
    }
    bits.skip(1)  // still picture
    guard !bits.flag() else {
      throw CodecError(.unsupported, "still pictures of AV1 are not supported")
    }
    self.readOperatingPoints(&bits)
    guard self.operatingPoints.allSatisfy({ ($0.layers >> 8).nonzeroBitCount <= 1 }) else {
      throw CodecError(.unsupported, "spatial layers of AV1 are not supported")
    }
    self.widthBits = bits.bits(4) + 1
    self.heightBits = bits.bits(4) + 1
    self.maxSize = FrameSize(
      width: bits.bits(self.widthBits) + 1, height: bits.bits(self.heightBits) + 1)
    if bits.flag() { self.frameIdentifierBits = bits.bits(4) + 2 + bits.bits(3) + 1 }
    bits.skip(7)  // superblocks, and tools of prediction
    let hasOrder = bits.flag()
    if hasOrder { bits.skip(2) }
    self.screenTools = bits.flag() ? nil : bits.flag()
    if self.screenTools != false { self.integerMotion = bits.flag() ? nil : bits.flag() }
    if hasOrder { self.orderBits = bits.bits(3) + 1 }
    bits.skip(3)  // superresolution, filters
    try self.readColor(&bits)
    guard !bits.isExhausted else {
      throw CodecError(.truncated, "the sequence header of AV1 ends too early")
    }
  }

  private mutating func readOperatingPoints(_ bits: inout BitReader) {
    var delayBits = 0
    if bits.flag() {  // times
      bits.skip(64)
      let isEquallySpaced = bits.flag()
      if isEquallySpaced { _ = bits.variableLength() }
      self.hasDecoderModel = bits.flag()
      if self.hasDecoderModel {
        delayBits = bits.bits(5) + 1
        bits.skip(32)
        self.removalTimeBits = bits.bits(5) + 1
        self.presentationTimeBits = bits.bits(5) + 1
        self.statesPresentationTimes = !isEquallySpaced
      }
    }
    let statesDisplayDelay = bits.flag()
    for _ in 0 ... bits.bits(5) {
      var point = OperatingPoint(layers: bits.bits(12))
      if bits.bits(5) > 7 { bits.skip(1) }  // level, tier
      if self.hasDecoderModel, bits.flag() {
        point.hasDecoderModel = true
        bits.skip(2 * delayBits + 1)
      }
      if statesDisplayDelay, bits.flag() { bits.skip(4) }
      self.operatingPoints.append(point)
    }
  }

  private mutating func readColor(_ bits: inout BitReader) throws(CodecError) {
    let (isDeep, isGray) = (bits.flag(), bits.flag())
    guard !isDeep, !isGray else {
      throw CodecError(.unsupported, "AV1 other than 8 bits and 4:2:0 is not supported")
    }
    if bits.flag() {
      bits.skip(16)
      self.color.matrix = try YUVMatrix(coefficients: bits.bits(8))
    }
    self.color.range = bits.flag() ? .full : .video
    bits.skip(2 + 1 + 1)  // position of chroma, quantizers, film grain
  }
}
