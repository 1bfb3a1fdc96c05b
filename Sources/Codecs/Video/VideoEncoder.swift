public import SidelightKernels

/// Encodes a stream of frames, each to one access unit.
///
/// The bit rate is held by quantizers alone: no frame is dropped. Streams have no B-frames, no
/// long-term references, no gradual refresh, one slice or partition, and no delay. Calls block
/// until the frame is encoded.
public final class VideoEncoder: @unchecked Sendable {  // one task at a time uses it
  /// The settings, with the last rates.
  public private(set) var settings: VideoEncoderSettings
  private let library: any VideoEncoderLibrary
  /// Reads the library's own units.
  private var reader: VideoHeaderReader
  private var framesSinceKeyFrame: Int?
  private var rate: FrameRateEstimate

  /// - Throws: ``CodecError`` with code `invalidOption` for settings out of range, or `unsupported`
  ///   if this build lacks the encoder.
  public init(_ settings: VideoEncoderSettings) throws(CodecError) {
    try settings.check()
    guard settings.codec.canEncode else {
      throw settings.codec.canDecode
        ? CodecError(.unsupported, "\(settings.codec.name) is decoded, but not encoded")
        : settings.codec.missingLibrary
    }
    self.settings = settings
    self.rate = FrameRateEstimate(nominal: settings.frameRate)
    self.reader = VideoHeaderReader(codec: settings.codec, limits: ImageLimits())
    #if Codecs
      switch settings.codec {
      case .h264: self.library = try OpenH264Encoder(settings)
      case .vp8, .vp9, .av1: self.library = try VPXEncoder(settings)
      }
    #else
      throw settings.codec.missingLibrary
    #endif
  }

  /// Changes the rates. The new bit rate holds after at most 10 frames; a key frame is not needed.
  ///
  /// - Throws: ``CodecError`` with code `invalidOption` for rates out of range.
  public func update(bitRate: Int, frameRate: Double) throws(CodecError) {
    var settings = self.settings
    settings.bitRate = bitRate
    settings.frameRate = frameRate
    try settings.check()
    if frameRate != self.settings.frameRate { self.rate = FrameRateEstimate(nominal: frameRate) }
    self.settings = settings
    try self.library.update(bitRate: bitRate, frameRate: self.rate.current)
  }

  /// Encodes a frame, and calls a function with the access unit. The bytes are valid during the
  /// call.
  ///
  /// - Parameters:
  ///   - frame: A frame in `i420` with the size, the range and the matrix of the settings.
  ///   - forcesKeyFrame: Whether the unit must be a key frame. The first one always is.
  ///   - time: The time of the frame since the first one. If frames arrive at another rate than the
  ///     settings state, the bits per frame follow, so the bit rate holds.
  /// - Throws: ``CodecError`` with code `invalidOption` for another frame, or `failed`. The next
  ///   frame then becomes a key frame.
  public func withEncoded<Result>(
    _ frame: Frame, forcesKeyFrame: Bool, at time: Duration,
    _ body: (RawSpan, EncodedUnit) throws(CodecError) -> Result
  ) throws(CodecError) -> Result {
    try self.check(frame)
    if self.rate.frame(at: time) {
      try self.library.update(bitRate: self.settings.bitRate, frameRate: self.rate.current)
    }
    let interval = self.settings.keyFrameInterval
    let isDue = self.framesSinceKeyFrame.map { interval > 0 && $0 >= interval } ?? true
    // Only a frame that is encoded counts.
    let count = self.framesSinceKeyFrame
    self.framesSinceKeyFrame = nil
    let (bytes, layer) = try unsafe self.library.encode(
      frame, forcesKeyFrame: forcesKeyFrame || isDue,
      milliseconds: Int(time / .milliseconds(1)))
    let unit = unsafe bytes.bytes
    guard unit.byteCount > 0 else {
      throw CodecError(.failed, "the encoder of \(self.settings.codec.name) dropped a frame")
    }
    let header = try self.reader.header(of: unit)
    self.framesSinceKeyFrame = header.isKeyFrame ? 1 : (count ?? 0) + 1
    return try body(
      unit,
      EncodedUnit(
        isKeyFrame: header.isKeyFrame, temporalLayer: header.isKeyFrame ? 0 : layer,
        isDisposable: header.isDisposable))
  }

  private func check(_ frame: Frame) throws(CodecError) {
    let (expected, actual) = (self.settings.color, frame.color)
    guard frame.format == .i420, frame.size == self.settings.size,
      (actual.range, actual.matrix) == (expected.range, expected.matrix)
    else {
      throw CodecError(
        .invalidOption,
        "the frame is \(frame.format.rawValue) \(frame.size), \(actual.range.rawValue) range, "
          + "\(actual.matrix.rawValue); the encoder expects i420 \(self.settings.size), "
          + "\(expected.range.rawValue) range, \(expected.matrix.rawValue)")
    }
  }
}

/// The facts about an access unit of an encoder.
public struct EncodedUnit: Sendable, Hashable {
  /// Whether decoding can start with the unit.
  public var isKeyFrame: Bool
  /// The temporal layer; 0 without layers. Units of a layer depend on the same and lower layers.
  public var temporalLayer: Int
  /// Whether no later unit depends on it.
  public var isDisposable: Bool
}

/// The rate of frames that arrive, as the encoders of libraries should assume it: they give every
/// frame an equal share of the bit rate.
private struct FrameRateEstimate {
  /// The rate that the library assumes.
  private(set) var current: Double
  private let nominal: Double
  private var mean: Double
  private var last: Duration?

  init(nominal: Double) {
    self.nominal = nominal
    self.current = nominal
    self.mean = 1 / nominal
  }

  /// Counts a frame. Returns whether the rate has changed.
  mutating func frame(at time: Duration) -> Bool {
    defer { self.last = time }
    guard let last = self.last else { return false }
    // A pause does not lower the rate.
    let interval = min(4 / self.nominal, max(0.25 / self.nominal, (time - last) / .seconds(1)))
    self.mean += (interval - self.mean) / 16
    let rate = 1 / self.mean
    guard abs(rate / self.current - 1) > 0.2 else { return false }
    self.current = abs(rate / self.nominal - 1) > 0.1 ? rate : self.nominal
    return true
  }
}

/// The options of a video encoder.
public struct VideoEncoderSettings: Sendable, Hashable {
  /// - `codec`: `h264`, `vp8` or `vp9`.
  public var codec: VideoCodec
  /// - `size` (pixels, 16 ... 4096 a side, for VP8 and VP9 1 ... 16383): the size of the frames.
  ///   H.264 needs an even width and height.
  public var size: FrameSize
  /// - `bitRate` (bits per second, 10,000 ... 240,000,000): the mean rate of the stream.
  public var bitRate: Int
  /// - `frameRate` (frames per second, default: 30, 1 ... 240): the rate of the frames.
  public var frameRate: Double
  /// - `keyFrameInterval` (frames, default: 0): the distance between key frames; 0 for key frames
  ///   only on demand.
  public var keyFrameInterval: Int
  /// - `temporalLayers` (count, default: 1, range: 1-3): the number of layers, of which upper ones
  ///   can be dropped. 2 and 3 layers need a higher bit rate for the same quality.
  public var temporalLayers: Int
  /// - `effort` (default: fast): the trade-off between time and quality.
  public var effort: VideoEncoderEffort
  /// - `color` (default: video range and BT.601): the colours of the frames, which H.264 and VP9
  ///   state in the stream. VP8 always has the default.
  public var color: ColorDescription

  /// Creates options. The encoder validates them.
  public init(
    codec: VideoCodec, size: FrameSize, bitRate: Int, frameRate: Double = 30,
    keyFrameInterval: Int = 0, temporalLayers: Int = 1, effort: VideoEncoderEffort = .fast,
    color: ColorDescription = ColorDescription()
  ) {
    self.codec = codec
    self.size = size
    self.bitRate = bitRate
    self.frameRate = frameRate
    self.keyFrameInterval = keyFrameInterval
    self.temporalLayers = temporalLayers
    self.effort = effort
    self.color = color
  }

  /// Validates the options.
  ///
  /// - Throws: ``CodecError`` with code ``CodecError/Code/invalidOption``.
  public func check() throws(CodecError) {
    if let fault = self.fault { throw CodecError(.invalidOption, fault) }
  }

  private var fault: String? {
    let sides = [self.size.width, self.size.height]
    let range = self.codec == .h264 ? 16 ... 4096 : 1 ... 16383
    if !sides.allSatisfy(range.contains) {
      return "\(self.codec.name) of \(self.size), the range is \(range) pixels a side"
    }
    if self.codec == .h264, !sides.allSatisfy({ $0.isMultiple(of: 2) }) {
      return "H.264 of \(self.size); width and height must be even"
    }
    if !(10_000 ... 240_000_000).contains(self.bitRate) {
      return "a bit rate of \(self.bitRate), the range is 10,000 ... 240,000,000 bits per second"
    }
    if !(1 ... 240).contains(self.frameRate) {
      return "a frame rate of \(self.frameRate), the range is 1 ... 240 frames per second"
    }
    if self.keyFrameInterval < 0 {
      return "a key frame interval of \(self.keyFrameInterval), it must be at least 0"
    }
    if !(1 ... 3).contains(self.temporalLayers) {
      return "\(self.temporalLayers) temporal layers, the range is 1 ... 3"
    }
    let isDefault = self.color.range == .video && self.color.matrix == .bt601
    if self.codec == .vp8, !isDefault {
      return "VP8 has video range and BT.601 only"
    }
    return nil
  }
}

/// The trade-off between the time of encoding and the quality.
public enum VideoEncoderEffort: String, Sendable, Hashable, CaseIterable {
  /// The least processor time.
  case fast
  /// More time for more quality.
  case balanced
  /// Two to three times the time of ``fast``.
  case best
}
