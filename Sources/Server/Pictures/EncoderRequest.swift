import SidelightCodecs
import SidelightKernels
package import SidelightWire

/// The requested settings of a video encoder: a valid `EncoderSpec`. Values that are not set follow
/// from the frames.
package struct EncoderRequest: Sendable, Hashable {
  /// The range of the bit rate, in bits per second.
  static let bitRates = 20_000 ... 100_000_000
  /// The range of the frame rate, in frames per second.
  static let frameRates = 1.0 ... 240.0
  /// The bits per pixel of the default bit rate: 2.5 Mbit/s for 1280x720 at 30 frames per second.
  private static let bitsPerPixel = 0.09

  private var bitRate: Int?
  private var frameRate: Double?
  /// The maximum number of frames between key frames; 0 for no maximum.
  private var keyFrameInterval = 0
  private var temporalLayers = 1
  private var effort = VideoEncoderEffort.fast

  /// Whether the bit rate does not follow from the frames.
  var hasBitRate: Bool { self.bitRate != nil }

  /// - Throws: ``FieldViolation`` for a value outside its range. The field is relative to the
  ///   output's message.
  package init(_ wire: Sidelight_V1_EncoderSpec) throws(FieldViolation) {
    do throws(FieldViolation) {
      try self.set(wire)
    } catch {
      throw error.within("encoder")
    }
  }

  private mutating func set(_ wire: Sidelight_V1_EncoderSpec) throws(FieldViolation) {
    try self.setRates(wire.bitRate, wire.frameRate)
    guard wire.keyFrameInterval <= 100_000 else {
      throw FieldViolation(
        field: "key_frame_interval", reason: "is \(wire.keyFrameInterval), the limit is 100000",
        info: .outOfRange(wire.keyFrameInterval, limit: 100_000))
    }
    self.keyFrameInterval = Int(wire.keyFrameInterval)
    guard wire.temporalLayers <= 3 else {
      throw FieldViolation(
        field: "temporal_layers", reason: "is \(wire.temporalLayers), the limit is 3",
        info: .outOfRange(wire.temporalLayers, limit: 3))
    }
    self.temporalLayers = max(1, Int(wire.temporalLayers))
    self.effort =
      switch wire.effort {
      case .unspecified, .fast: .fast
      case .balanced: .balanced
      case .best: .best
      case .UNRECOGNIZED(let value):
        throw FieldViolation(field: "effort", reason: "is \(value), which is not an effort")
      }
  }

  /// Changes the rates that a message states.
  mutating func apply(_ change: Sidelight_V1_SetEncoder) throws(FieldViolation) {
    try self.setRates(change.bitRate, change.frameRate)
  }

  private mutating func setRates(
    _ bitRate: UInt32, _ frameRate: Double
  ) throws(FieldViolation) {
    if bitRate != 0 {
      guard Self.bitRates.contains(Int(bitRate)) else {
        throw FieldViolation(
          field: "bit_rate",
          reason: "is \(bitRate), the range is 20000 to 100000000 bits per second",
          info: .outOfRange(bitRate, limit: "20000 ... 100000000"))
      }
      self.bitRate = Int(bitRate)
    }
    if frameRate != 0 {
      guard Self.frameRates.contains(frameRate) else {
        throw FieldViolation(
          field: "frame_rate", reason: "is \(frameRate), the range is 1 to 240",
          info: .outOfRange(frameRate, limit: "1 ... 240"))
      }
      self.frameRate = frameRate
    }
  }

  /// Returns the settings for a picture and those after it.
  ///
  /// - Parameter maxFPS: The frame rate of the session, if it is limited.
  func settings(
    for frame: Frame, _ codec: VideoCodec, maxFPS: Double?
  ) -> VideoEncoderSettings {
    let rates = Self.frameRates
    let frameRate =
      self.frameRate ?? maxFPS.map { min(max($0, rates.lowerBound), rates.upperBound) } ?? 30
    let usual = Int(Double(frame.size.pixelCount) * frameRate * Self.bitsPerPixel)
    return VideoEncoderSettings(
      codec: codec, size: frame.size,
      bitRate: self.bitRate ?? min(max(usual, Self.bitRates.lowerBound), Self.bitRates.upperBound),
      frameRate: frameRate, keyFrameInterval: self.keyFrameInterval,
      temporalLayers: self.temporalLayers, effort: self.effort, color: frame.color)
  }
}
