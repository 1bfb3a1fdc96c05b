public import SidelightKernels

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
