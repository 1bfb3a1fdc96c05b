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
