import SidelightKernels

/// The sequence parameter set of H.264 (section 7.3.2.1.1), as far as decoding needs it.
struct H264SequenceParameters: Sendable, Hashable {
  /// The order of pictures in time.
  enum PictureOrder: Sendable, Hashable {
    /// Every slice states the low bits of its position.
    case stated(bits: Int)
    /// Slices state differences to a cycle.
    case cycle(isStated: Bool)
    /// Pictures are shown in the order in which they are decoded.
    case decoding
  }

  let identifier: Int
  /// The size without the cropped edges.
  let size: FrameSize
  let macroblockCount: Int
  let color: ColorDescription
  let frameNumberBits: Int
  let allowsFrameNumberGaps: Bool
  let order: PictureOrder

  /// The largest number of macroblocks in all reference pictures (table A-1, levels 5.1 and 5.2).
  private static let maxReferenceMacroblocks = 184_320

  /// Reads a parameter set.
  ///
  /// - Parameter bits: The payload after the first byte of the NAL unit.
  /// - Throws: ``CodecError`` for a malformed set, an unsupported profile, or a size beyond limits.
  init(_ bits: consuming BitReader, limits: ImageLimits) throws(CodecError) {
    let profile = bits.bits(8)
    bits.skip(16)  // constraints, level
    guard [66, 77, 100].contains(profile) else {
      throw CodecError(
        .unsupported,
        "the H.264 profile is \(profile); Baseline (66), Main (77) and High (100) are supported")
    }
    self.identifier = bits.unsigned()
    if profile == 100 { try Self.readHighProfile(&bits) }
    let frameNumberBits = bits.unsigned() + 4
    let order = try Self.order(&bits)
    let references = bits.unsigned()
    self.allowsFrameNumberGaps = bits.flag()
    let columns = bits.unsigned() + 1
    let rows = bits.unsigned() + 1
    guard self.identifier < 32, frameNumberBits <= 16, references <= 16, !bits.isExhausted else {
      throw CodecError(.corrupt, "the sequence parameters of H.264 are malformed")
    }
    guard bits.flag() else {
      throw CodecError(.unsupported, "interlaced H.264 is not supported")
    }
    bits.skip(1)  // direct_8x8_inference
    // A side of more macroblocks is refused below. The clamp prevents overflows.
    let coded = FrameSize(width: 16 * min(columns, 1 << 20), height: 16 * min(rows, 1 << 20))
    self.size = try Self.croppedSize(of: coded, &bits)
    try limits.check(self.size)
    // Encoders align sizes to up to 64 pixels, and crop the rest.
    try limits.check(
      FrameSize(width: max(1, coded.width - 63), height: max(1, coded.height - 63)))
    self.macroblockCount = columns * rows
    guard references * self.macroblockCount <= Self.maxReferenceMacroblocks else {
      throw CodecError(
        .limitExceeded,
        "\(references) reference pictures of \(coded) are more than level 5.2 of H.264 allows")
    }
    self.color = try bits.flag() ? Self.color(&bits) : ColorDescription()
    guard !bits.isExhausted else {
      throw CodecError(.corrupt, "the sequence parameters of H.264 end too early")
    }
    self.frameNumberBits = frameNumberBits
    self.order = order
  }

  /// Reads the fields that only High profile has.
  private static func readHighProfile(_ bits: inout BitReader) throws(CodecError) {
    let chroma = bits.unsigned()
    let depths = (bits.unsigned(), bits.unsigned())
    let isLossless = bits.flag()
    guard chroma == 1, depths == (0, 0), !isLossless else {
      throw CodecError(.unsupported, "H.264 other than 8 bits and 4:2:0 is not supported")
    }
    guard bits.flag() else { return }
    for list in 0 ..< 8 where bits.flag() {
      // A scaling list (section 7.3.2.1.1.1).
      var (last, next) = (8, 8)
      for _ in 0 ..< (list < 6 ? 16 : 64) where next != 0 {
        let delta = bits.signed()
        guard (-128 ... 127).contains(delta) else {
          throw CodecError(.corrupt, "a scaling list of H.264 is malformed")
        }
        next = (last + delta + 256) % 256
        if next != 0 { last = next }
      }
    }
  }

  private static func order(_ bits: inout BitReader) throws(CodecError) -> PictureOrder {
    switch bits.unsigned() {
    case 0:
      let count = bits.unsigned() + 4
      guard count <= 16 else { break }
      return .stated(bits: count)
    case 1:
      let isFixed = bits.flag()
      _ = (bits.signed(), bits.signed())
      let count = bits.unsigned()
      guard count <= 255 else { break }
      for _ in 0 ..< count { _ = bits.signed() }
      return .cycle(isStated: !isFixed)
    case 2: return .decoding
    default: break
    }
    throw CodecError(.corrupt, "the sequence parameters of H.264 are malformed")
  }

  private static func croppedSize(
    of coded: FrameSize, _ bits: inout BitReader
  ) throws(CodecError) -> FrameSize {
    guard bits.flag() else { return coded }
    let (left, right) = (bits.unsigned(), bits.unsigned())
    let (top, bottom) = (bits.unsigned(), bits.unsigned())
    guard 2 * (left + right) < coded.width, 2 * (top + bottom) < coded.height else {
      throw CodecError(.corrupt, "H.264 crops more than its picture of \(coded)")
    }
    return FrameSize(
      width: coded.width - 2 * (left + right), height: coded.height - 2 * (top + bottom))
  }

  /// Reads the start of the video usability information (section E.1.1).
  private static func color(_ bits: inout BitReader) throws(CodecError) -> ColorDescription {
    if bits.flag(), bits.bits(8) == 255 { bits.skip(32) }  // the shape of pixels
    if bits.flag() { bits.skip(1) }  // overscan
    guard bits.flag() else { return ColorDescription() }
    bits.skip(3)
    let range: YUVRange = bits.flag() ? .full : .video
    guard bits.flag() else { return ColorDescription(range: range) }
    bits.skip(16)
    return ColorDescription(range: range, matrix: try YUVMatrix(coefficients: bits.bits(8)))
  }
}

/// The picture parameter set of H.264 (section 7.3.2.2), as far as slice headers need it.
struct H264PictureParameters: Sendable, Hashable {
  let identifier: Int
  let sequence: Int
  let statesBottomOrder: Bool
  let mayBeRedundant: Bool

  /// Reads a parameter set.
  ///
  /// - Parameter bits: The payload after the first byte of the NAL unit.
  init(_ bits: consuming BitReader) throws(CodecError) {
    self.identifier = bits.unsigned()
    self.sequence = bits.unsigned()
    bits.skip(1)  // entropy coding
    self.statesBottomOrder = bits.flag()
    let groups = bits.unsigned()
    guard self.identifier < 256, self.sequence < 32, !bits.isExhausted else {
      throw CodecError(.corrupt, "the picture parameters of H.264 are malformed")
    }
    guard groups == 0 else {
      throw CodecError(
        .unsupported, "flexible macroblock ordering (slice groups) of H.264 is not supported")
    }
    let references = (bits.unsigned(), bits.unsigned())
    bits.skip(3)  // weighted prediction
    _ = (bits.signed(), bits.signed(), bits.signed())  // quantizers
    bits.skip(2)
    self.mayBeRedundant = bits.flag()
    guard references.0 < 16, references.1 < 16, !bits.isExhausted else {
      throw CodecError(.corrupt, "the picture parameters of H.264 are malformed")
    }
  }
}

extension YUVMatrix {
  /// Creates the matrix of a `matrix_coefficients` of ITU-T H.273, which H.264 and AV1 use.
  ///
  /// Unspecified (2) is taken for BT.601, the default of ``ColorDescription``.
  init(coefficients: Int) throws(CodecError) {
    switch coefficients {
    case 1: self = .bt709
    case 2, 4, 5, 6: self = .bt601
    default:
      throw CodecError(
        .unsupported,
        "the colour matrix is \(coefficients); BT.601 (5, 6) and BT.709 (1) are supported")
    }
  }
}
