public import SidelightKernels
public import SidelightWire

/// A picture of a stream of encoded video, as a camera's encoder or a call delivers it.
///
/// The frames of a stream depend on each other, so send all of them, in order. If a frame is lost,
/// the server cannot use the frames after it, and ``SessionEvent/keyFrameNeeded(_:)`` asks for a key
/// frame.
public struct EncodedFrame: Sendable, Hashable {
  /// The format.
  public var format: EncodedFormat
  /// The access unit: for H.264 in the byte stream format of Annex B, with parameter sets in front
  /// of every key frame; for VP8 a frame; for VP9 a frame or superframe; for AV1 a temporal unit.
  public var bytes: [UInt8]
  /// Whether it is a key frame. Always set in results. In a frame to send it may be `false` for a
  /// key frame too: the server reads the bitstream.
  public var isKeyFrame: Bool
  /// The temporal layer, 0 for the lowest. Only in results.
  public var temporalLayer: Int
  /// The numbers of the frames that the frame depends on. Default: all frames before it. State them
  /// only to leave out frames on purpose, for example a temporal layer.
  public var dependencies: [UInt64]
  /// The size in pixels. Only in results.
  public var size: FrameSize?
  /// The orientation in which it is shown.
  public var orientation: Orientation

  /// Creates a frame to send.
  public init(
    _ format: EncodedFormat, _ bytes: [UInt8], isKeyFrame: Bool = false,
    dependencies: [UInt64] = [], orientation: Orientation = .upright
  ) {
    self.format = format
    self.bytes = bytes
    self.isKeyFrame = isKeyFrame
    self.temporalLayer = 0
    self.dependencies = dependencies
    self.size = nil
    self.orientation = orientation
  }
}

extension EncodedFrame {
  /// Reads a picture that the server sent.
  init(
    _ format: EncodedFormat, _ image: Sidelight_V1_Image, _ bytes: [UInt8]
  ) throws(FieldViolation) {
    self.init(
      format, bytes, isKeyFrame: image.encoded.keyFrame,
      orientation: try Orientation(image.orientation))
    self.temporalLayer = Int(image.encoded.temporalLayer)
    self.size = FrameSize(width: Int(image.width), height: Int(image.height))
  }
}

extension Sidelight_V1_Image {
  /// Describes a frame to send, without its bytes.
  mutating func describe(_ frame: EncodedFrame) {
    self.describe(Sidelight_V1_PixelFormat(frame.format), of: nil, orientation: frame.orientation)
    if frame.isKeyFrame { self.encoded.keyFrame = true }
    if !frame.dependencies.isEmpty { self.encoded.dependsOn = frame.dependencies }
  }
}
