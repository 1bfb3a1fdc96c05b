import SidelightKernels

/// Reads the headers of frames of VP8 (RFC 6386, section 9).
struct VP8HeaderReader: CodecHeaderReader {
  private let limits: ImageLimits
  /// The size of the last key frame.
  private var size: FrameSize?
  /// Whether a frame since then uses settings of earlier frames, so it depends on all of them.
  private var usesEarlierSettings = false

  /// The bytes of the first partition that contain the fields that are read.
  private static let headerBytes = 128

  init(limits: ImageLimits) {
    self.limits = limits
  }

  var parameterSets: [UInt8] { [] }

  mutating func read(_ unit: RawSpan) throws(CodecError) -> VideoUnit {
    guard unit.byteCount >= 3 else {
      throw CodecError(.truncated, "the frame of VP8 has \(unit.byteCount) bytes")
    }
    let tag =
      Int(unit.byte(at: 0)) | Int(unit.byte(at: 1)) << 8 | Int(unit.byte(at: 2)) << 16
    let isKeyFrame = tag & 1 == 0
    let version = tag >> 1 & 7
    guard version <= 3 else {
      throw CodecError(.unsupported, "the version of VP8 is \(version), the range is 0 ... 3")
    }
    guard tag >> 4 & 1 == 1 else {
      throw CodecError(.unsupported, "frames of VP8 that are not shown are not supported")
    }
    let start = isKeyFrame ? 10 : 3
    guard tag >> 5 > 0, start + tag >> 5 <= unit.byteCount else {
      throw CodecError(
        .truncated,
        "the frame of VP8 has \(unit.byteCount) bytes; its first partition ends at byte "
          + "\(start + tag >> 5)")
    }
    let size = try isKeyFrame ? self.keyFrameSize(unit) : self.size
    guard let size else { throw .noKeyFrame }
    var isDisposable = false
    if isKeyFrame {
      self.usesEarlierSettings = false
    } else {
      let end = start + min(tag >> 5, Self.headerBytes)
      let delta = DeltaHeader(unit.bytes(in: start ..< end))
      if delta.usesEarlierSettings { self.usesEarlierSettings = true }
      isDisposable =
        !delta.changesState && !(delta.replacesSettings && self.usesEarlierSettings)
    }
    self.size = size
    return VideoUnit(
      header: VideoHeader(
        isKeyFrame: isKeyFrame, size: size, color: ColorDescription(),
        isDisposable: isDisposable, temporalLayer: nil),
      parts: [0 ..< unit.byteCount])
  }

  private func keyFrameSize(_ unit: RawSpan) throws(CodecError) -> FrameSize {
    guard unit.byte(at: 3) == 0x9D, unit.byte(at: 4) == 0x01, unit.byte(at: 5) == 0x2A else {
      throw CodecError(.corrupt, "the key frame of VP8 lacks its start code")
    }
    // The upper two bits ask to scale the picture when it is shown.
    let size = FrameSize(
      width: (Int(unit.byte(at: 6)) | Int(unit.byte(at: 7)) << 8) & 0x3FFF,
      height: (Int(unit.byte(at: 8)) | Int(unit.byte(at: 9)) << 8) & 0x3FFF)
    try self.limits.check(size)
    return size
  }

}

/// The fields of a delta frame that tell what later frames depend on (RFC 6386, section 9.3 to 9.11).
private struct DeltaHeader {
  /// Whether the frame replaces the segments or the changes of the loop filter as a whole. This
  /// matters only to later frames that do not.
  private(set) var replacesSettings = false
  /// Whether the frame uses segments or changes of the loop filter of earlier frames.
  private(set) var usesEarlierSettings = false
  /// Whether the frame changes anything else that later frames use.
  private(set) var changesState = false

  /// Reads the start of the first partition.
  init(_ partition: [UInt8]) {
    var bits = BooleanDecoder(partition)
    if bits.flag() {  // segments
      let (updatesMap, updatesData) = (bits.flag(), bits.flag())
      self.count(updates: (updatesMap ? 1 : 0) + (updatesData ? 1 : 0), of: 2)
      if updatesData {
        bits.skip(1)
        for _ in 0 ..< 4 where bits.flag() { bits.skip(8) }
        for _ in 0 ..< 4 where bits.flag() { bits.skip(7) }
      }
      if updatesMap { for _ in 0 ..< 3 where bits.flag() { bits.skip(8) } }
    }
    bits.skip(10)  // loop filter
    if bits.flag() {  // changes of the loop filter
      var updates = 0
      if bits.flag() {
        for _ in 0 ..< 8 where bits.flag() {
          bits.skip(7)
          updates += 1
        }
      }
      self.count(updates: updates, of: 8)
    }
    bits.skip(2 + 7)  // partitions, quantizer
    for _ in 0 ..< 5 where bits.flag() { bits.skip(5) }
    let (refreshesGolden, refreshesOther) = (bits.flag(), bits.flag())
    let copiesToGolden = refreshesGolden || bits.bits(2) > 0
    let copiesToOther = refreshesOther || bits.bits(2) > 0
    bits.skip(2)
    let (keepsProbabilities, refreshesLast) = (bits.flag(), bits.flag())
    if copiesToGolden || copiesToOther || keepsProbabilities || refreshesLast {
      self.changesState = true
    }
  }

  private mutating func count(updates: Int, of all: Int) {
    if updates == all {
      self.replacesSettings = true
    } else {
      self.usesEarlierSettings = true
      if updates > 0 { self.changesState = true }
    }
  }
}

/// The arithmetic decoder of VP8 (RFC 6386, section 7), for bits of equal probability, as most of
/// the frame header has.
private struct BooleanDecoder {
  private let bytes: [UInt8]
  private var next = 2
  private var value: UInt32
  private var range: UInt32 = 255
  private var shift = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    self.value =
      UInt32(bytes.first ?? 0) << 8 | UInt32(bytes.count > 1 ? bytes[1] : 0)
  }

  mutating func flag() -> Bool {
    let split = 1 + ((self.range - 1) * 128) >> 8
    let isSet = self.value >= split << 8
    if isSet {
      self.range -= split
      self.value -= split << 8
    } else {
      self.range = split
    }
    while self.range < 128 {
      self.value <<= 1
      self.range <<= 1
      self.shift += 1
      if self.shift == 8 {
        self.shift = 0
        self.value |= UInt32(self.next < self.bytes.count ? self.bytes[self.next] : 0)
        self.next += 1
      }
    }
    return isSet
  }

  mutating func bits(_ count: Int) -> Int {
    var value = 0
    for _ in 0 ..< count { value = value << 1 | (self.flag() ? 1 : 0) }
    return value
  }

  mutating func skip(_ count: Int) {
    for _ in 0 ..< count { _ = self.flag() }
  }
}
