import SidelightKernels

/// Reads the headers of access units of H.264 in the byte stream format of annex B.
struct H264HeaderReader: CodecHeaderReader {
  /// A stored parameter set: its meaning, and the bytes of its NAL unit.
  private struct Stored<Value: Sendable>: Sendable {
    let value: Value
    let bytes: [UInt8]
  }

  /// The fields that are equal in all slices of a picture (section 7.4.1.2.4).
  private struct Picture: Equatable {
    let isKeyFrame: Bool
    let isReference: Bool
    let sequence: Int
    let frameNumber: Int
    let keyFrameNumber: Int
    let order: Int
  }

  private struct Slice {
    let picture: Picture
    let firstMacroblock: Int
    let sequence: H264SequenceParameters
  }

  /// The positions of the last pictures since a key frame.
  private struct Positions {
    /// `frame_num` of the last reference picture.
    var frameNumber = 0
    /// The order of the last reference picture: its high part and its stated bits.
    var high = 0
    var low = 0
    /// The order of the last picture.
    var order = Int.min
  }

  private let limits: ImageLimits
  private var sequences: [Int: Stored<H264SequenceParameters>] = [:]
  private var pictures: [Int: Stored<H264PictureParameters>] = [:]
  /// The parameters of the last key frame.
  private var active: H264SequenceParameters?
  private var positions = Positions()

  /// The maximum number of NAL units in an access unit.
  private static let maxUnits = 1024
  /// The maximum size of a parameter set in bytes.
  private static let maxSetBytes = 4096
  /// The bytes of a slice that contain the fields that are read.
  private static let sliceHeaderBytes = 64

  init(limits: ImageLimits) {
    self.limits = limits
  }

  /// All parameter sets of the stream.
  var parameterSets: [UInt8] {
    let startCode: [UInt8] = [0, 0, 0, 1]
    return self.sequences.sorted { $0.key < $1.key }.flatMap { startCode + $0.value.bytes }
      + self.pictures.sorted { $0.key < $1.key }.flatMap { startCode + $0.value.bytes }
  }

  mutating func read(_ unit: RawSpan) throws(CodecError) -> VideoUnit {
    var next = self
    let result = try next.readUnits(unit)
    self = next
    return result
  }

  private mutating func readUnits(_ unit: RawSpan) throws(CodecError) -> VideoUnit {
    var parts: [Range<Int>] = []
    var first: Slice?
    var lastMacroblock = -1
    var temporalLayer: Int?
    var hasNewSequence = false
    for range in try Self.units(of: unit) {
      let byte = unit.byte(at: range.lowerBound)
      guard byte & 0x80 == 0 else {
        throw CodecError(.corrupt, "a NAL unit of H.264 has its forbidden bit set")
      }
      let type = byte & 31
      if first != nil, (6 ... 9).contains(type) || (14 ... 18).contains(type) {
        throw CodecError(
          .unsupported, "the unit has more than one access unit of H.264; send one per frame")
      }
      switch type {
      case 1, 5:
        let slice = try self.slice(unit, range, isKeyFrame: type == 5, reference: byte >> 5 & 3)
        if let first, first.picture != slice.picture {
          throw CodecError(.unsupported, "the unit has two pictures of H.264; send one per frame")
        }
        guard slice.firstMacroblock < slice.sequence.macroblockCount else {
          throw CodecError(.corrupt, "a slice starts behind the picture's last macroblock")
        }
        guard first != nil || slice.firstMacroblock == 0 else {
          throw CodecError(.corrupt, "the first slice of the picture is missing")
        }
        guard slice.firstMacroblock > lastMacroblock else {
          throw slice.firstMacroblock == 0
            ? CodecError(.unsupported, "the unit has two pictures of H.264; send one per frame")
            : CodecError(.unsupported, "arbitrary slice order of H.264 is not supported")
        }
        lastMacroblock = slice.firstMacroblock
        if first == nil { first = slice }
        parts.append(range)
      case 2, 3, 4: throw CodecError(.unsupported, "data partitions of H.264 are not supported")
      case 7: try hasNewSequence = self.storeSequence(unit, range) || hasNewSequence
      case 8:
        try self.storePicture(unit, range)
        parts.append(range)
      case 14: temporalLayer = Self.temporalLayer(unit, range) ?? temporalLayer
      default: break  // e.g. messages (6), delimiters (9), filler (12), layers of SVC (20)
      }
    }
    guard let first else { throw CodecError(.corrupt, "the unit has no picture of H.264") }
    guard first.picture.isKeyFrame || !hasNewSequence else {
      throw CodecError(
        .unsupported, "the sequence parameters of H.264 change without a key frame")
    }
    try self.advance(to: first)
    return VideoUnit(
      header: VideoHeader(
        isKeyFrame: first.picture.isKeyFrame, size: first.sequence.size,
        color: first.sequence.color, isDisposable: !first.picture.isReference,
        temporalLayer: temporalLayer),
      parts: parts)
  }

  // MARK: Parameter sets

  /// Stores a parameter set. Returns whether it differs from the stored one.
  private mutating func storeSequence(
    _ unit: RawSpan, _ range: Range<Int>
  ) throws(CodecError) -> Bool {
    let bytes = try Self.setBytes(unit, range)
    let value = try H264SequenceParameters(Self.payload(bytes), limits: self.limits)
    guard self.sequences[value.identifier]?.bytes != bytes else { return false }
    self.sequences[value.identifier] = Stored(value: value, bytes: bytes)
    return true
  }

  private mutating func storePicture(
    _ unit: RawSpan, _ range: Range<Int>
  ) throws(CodecError) {
    let bytes = try Self.setBytes(unit, range)
    let value = try H264PictureParameters(Self.payload(bytes))
    self.pictures[value.identifier] = Stored(value: value, bytes: bytes)
  }

  private static func setBytes(
    _ unit: RawSpan, _ range: Range<Int>
  ) throws(CodecError) -> [UInt8] {
    guard range.count <= Self.maxSetBytes else {
      throw CodecError(
        .limitExceeded,
        "a parameter set of H.264 has \(range.count) bytes, the limit is \(Self.maxSetBytes)")
    }
    return unit.bytes(in: range)
  }

  // MARK: Slices

  private func slice(
    _ unit: RawSpan, _ range: Range<Int>, isKeyFrame: Bool, reference: UInt8
  ) throws(CodecError) -> Slice {
    guard isKeyFrame || self.active != nil else { throw .noKeyFrame }
    let end = min(range.upperBound, range.lowerBound + Self.sliceHeaderBytes)
    var bits = Self.payload(unit.bytes(in: range.lowerBound ..< end))
    let firstMacroblock = bits.unsigned()
    let type = bits.unsigned()
    guard let parameters = self.pictures[bits.unsigned()]?.value,
      let sequence = self.sequences[parameters.sequence]?.value
    else { throw CodecError(.corrupt, "a slice of H.264 refers to missing parameter sets") }
    guard isKeyFrame || sequence == self.active else {
      throw CodecError(
        .unsupported, "the sequence parameters of H.264 change without a key frame")
    }
    switch type % 5 {
    case 0, 2: break
    case 1: throw CodecError(.unsupported, "B-frames of H.264 are not supported")
    default: throw CodecError(.unsupported, "switching slices of H.264 are not supported")
    }
    guard type < 10, !isKeyFrame || (type % 5 == 2 && reference > 0) else {
      throw CodecError(.corrupt, "a slice of H.264 has the type \(type)")
    }
    let frameNumber = bits.bits(sequence.frameNumberBits)
    let keyFrameNumber = isKeyFrame ? bits.unsigned() : 0
    var order = 0
    switch sequence.order {
    case .stated(let count):
      order = bits.bits(count)
      if parameters.statesBottomOrder { _ = bits.signed() }
    case .cycle(isStated: true):
      _ = bits.signed()
      if parameters.statesBottomOrder { _ = bits.signed() }
    case .cycle(isStated: false), .decoding: break
    }
    if parameters.mayBeRedundant, bits.unsigned() > 0 {
      throw CodecError(.unsupported, "redundant pictures of H.264 are not supported")
    }
    // The number of references, if it differs from the parameter set's.
    if type % 5 == 0, bits.flag(), bits.unsigned() >= 16 {
      throw CodecError(.corrupt, "a slice of H.264 has more than 16 references")
    }
    guard !bits.isExhausted else {
      throw CodecError(.truncated, "a slice of H.264 ends within its header")
    }
    return Slice(
      picture: Picture(
        isKeyFrame: isKeyFrame, isReference: reference > 0, sequence: sequence.identifier,
        frameNumber: frameNumber, keyFrameNumber: keyFrameNumber, order: order),
      firstMacroblock: firstMacroblock, sequence: sequence)
  }

  /// Checks that the picture follows the last one, in its number and in its order.
  private mutating func advance(to slice: Slice) throws(CodecError) {
    let picture = slice.picture
    if picture.isKeyFrame {
      self.active = slice.sequence
      self.positions = Positions()
    } else if !slice.sequence.allowsFrameNumberGaps {
      let expected = (self.positions.frameNumber + 1) & ((1 << slice.sequence.frameNumberBits) - 1)
      guard picture.frameNumber == expected else {
        throw CodecError(
          .missingReference,
          "the picture has the frame number \(picture.frameNumber) instead of \(expected), so a "
            + "reference is missing; send a key frame")
      }
    }
    if picture.isReference { self.positions.frameNumber = picture.frameNumber }
    guard case .stated(let bits) = slice.sequence.order else { return }
    // Section 8.2.1.1.
    let (range, half) = (1 << bits, 1 << (bits - 1))
    var high = self.positions.high
    if picture.order < self.positions.low, self.positions.low - picture.order >= half {
      high += range
    } else if picture.order > self.positions.low, picture.order - self.positions.low > half {
      high -= range
    }
    guard high + picture.order > self.positions.order else {
      throw CodecError(
        .unsupported, "the pictures of H.264 are not in the order in which they are shown")
    }
    self.positions.order = high + picture.order
    if picture.isReference { (self.positions.high, self.positions.low) = (high, picture.order) }
  }

  // MARK: NAL units

  /// The temporal layer that the prefix of a slice states (section F.7.3.1.1).
  private static func temporalLayer(_ unit: RawSpan, _ range: Range<Int>) -> Int? {
    guard range.count >= 4, unit.byte(at: range.lowerBound + 1) & 0x80 != 0 else { return nil }
    return Int(unit.byte(at: range.lowerBound + 3) >> 5)
  }

  /// Returns a reader of a NAL unit's payload, without the bytes that prevent start codes.
  private static func payload(_ bytes: [UInt8]) -> BitReader {
    var payload: [UInt8] = []
    payload.reserveCapacity(bytes.count)
    var zeros = 0
    for byte in bytes.dropFirst() {
      if zeros >= 2, byte == 3 {
        zeros = 0
        continue
      }
      zeros = byte == 0 ? zeros + 1 : 0
      payload.append(byte)
    }
    return BitReader(payload)
  }

  /// Returns the ranges of the NAL units without their start codes and trailing zeros.
  private static func units(of unit: RawSpan) throws(CodecError) -> [Range<Int>] {
    guard var start = unit.startCode(from: 0), unit.isZero(in: 0 ..< start) else {
      throw CodecError(
        .unknownFormat, "the \(unit.byteCount) bytes do not begin with a start code of H.264")
    }
    var result: [Range<Int>] = []
    while start < unit.byteCount {
      let next = unit.startCode(from: start + 3)
      var end = next ?? unit.byteCount
      while end > start + 3, unit.byte(at: end - 1) == 0 { end -= 1 }
      if end > start + 3 { result.append(start + 3 ..< end) }
      guard result.count <= Self.maxUnits else {
        throw CodecError(
          .limitExceeded, "the unit has more than \(Self.maxUnits) NAL units of H.264")
      }
      guard let next else { break }
      start = next
    }
    return result
  }
}

extension RawSpan {
  /// Returns the bytes of a range.
  func bytes(in range: Range<Int>) -> [UInt8] {
    unsafe self.withUnsafeBytes { unsafe [UInt8]($0[range]) }
  }

  fileprivate func isZero(in range: Range<Int>) -> Bool {
    range.allSatisfy { self.byte(at: $0) == 0 }
  }

  /// Returns the offset of the next 00 00 01, if any.
  fileprivate func startCode(from start: Int) -> Int? {
    unsafe self.withUnsafeBytes { bytes in
      var offset = start + 2
      while offset < bytes.count {
        // The bytes up to a byte of more than 1 cannot be a part of a start code.
        let byte = unsafe bytes[offset]
        if byte > 1 {
          offset += 3
        } else if byte == 1 {
          if unsafe bytes[offset - 1] == 0, unsafe bytes[offset - 2] == 0 { return offset - 2 }
          offset += 3
        } else {
          offset += 1
        }
      }
      return nil
    }
  }
}
