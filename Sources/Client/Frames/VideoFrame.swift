public import SidelightKernels
public import SidelightWire

/// A frame to send, with values that the server returns with its outcome.
public struct VideoFrame: Sendable {
  /// The picture.
  public var picture: VideoPicture
  /// The capture time on the caller's clock, in nanoseconds. Returned unchanged.
  public var captureTimeNanoseconds: Int64
  /// The RTP timestamp. Returned unchanged.
  public var rtpTimestamp: UInt32
  /// The time from the frame's receipt at the server until it is dropped as late, in whole
  /// microseconds. `nil` uses the session's budget; `.zero` disables it.
  public var budget: Duration?
  /// The priority in the server's mailbox: a full mailbox drops the frame of the lowest priority,
  /// and among equals the oldest. Default: 0.
  public var priority: Int32
  /// Whether the frame, once it is sent, is never displaced and never dropped as late.
  public var mustProcess: Bool
  /// Pairs of strings that are returned unchanged; at most 16 entries and 1 KiB.
  public var tags: [String: String]
  /// The W3C `traceparent` of the parent of the frame's spans. `nil` uses the current
  /// `ServiceContext`'s, if any.
  public var traceparent: String?

  /// Creates a frame from samples.
  public init(
    _ frame: Frame, captureTimeNanoseconds: Int64 = 0, rtpTimestamp: UInt32 = 0,
    budget: Duration? = nil, priority: Int32 = 0, mustProcess: Bool = false,
    tags: [String: String] = [:], traceparent: String? = nil
  ) {
    self.init(
      .frame(frame), captureTimeNanoseconds: captureTimeNanoseconds, rtpTimestamp: rtpTimestamp,
      budget: budget, priority: priority, mustProcess: mustProcess, tags: tags,
      traceparent: traceparent)
  }

  /// Creates a frame from a picture.
  public init(
    _ picture: VideoPicture, captureTimeNanoseconds: Int64 = 0, rtpTimestamp: UInt32 = 0,
    budget: Duration? = nil, priority: Int32 = 0, mustProcess: Bool = false,
    tags: [String: String] = [:], traceparent: String? = nil
  ) {
    self.picture = picture
    self.captureTimeNanoseconds = captureTimeNanoseconds
    self.rtpTimestamp = rtpTimestamp
    self.budget = budget
    self.priority = priority
    self.mustProcess = mustProcess
    self.tags = tags
    self.traceparent = traceparent
  }
}

/// A picture as it travels: samples, a file, or a part of a stream.
public enum VideoPicture: Sendable {
  /// Samples, in one of the raw formats.
  case frame(Frame)
  /// A whole JPEG file, and the orientation in which it is shown.
  case jpeg([UInt8], orientation: Orientation = .upright)
  /// A picture of a stream of encoded video.
  case encoded(EncodedFrame)
  /// The picture of a frame in a session with named outputs, which have the pictures. Not for
  /// frames to send.
  case omitted

  /// The samples, or `nil` if the picture is compressed. ``OutputOptions/format`` requests samples.
  public var frame: Frame? {
    if case .frame(let frame) = self { frame } else { nil }
  }

  /// The JPEG file, or `nil` if the picture is none.
  public var jpeg: [UInt8]? {
    if case .jpeg(let file, _) = self { file } else { nil }
  }

  /// The picture of a stream, or `nil` if the picture is complete in itself.
  public var encoded: EncodedFrame? {
    if case .encoded(let frame) = self { frame } else { nil }
  }

  /// The orientation in which the picture is shown.
  public var orientation: Orientation {
    switch self {
    case .frame(let frame): frame.orientation
    case .jpeg(_, let orientation): orientation
    case .encoded(let frame): frame.orientation
    case .omitted: .upright
    }
  }
}

extension VideoPicture {
  /// Reads a picture that the server sent.
  ///
  /// - Throws: ``FieldViolation`` for an image that contradicts its pixels.
  init(
    _ image: Sidelight_V1_Image, over pixels: PixelBuffer?
  ) throws(FieldViolation) {
    guard image.format.isCompressed, let pixels else {
      self = .frame(try image.frame(over: pixels, limits: .unlimited))
      return
    }
    let bytes = withExtendedLifetime(pixels) { [UInt8](UnsafeRawBufferPointer(pixels.bytes)) }
    if let format = EncodedFormat(image.format) {
      self = .encoded(try EncodedFrame(format, image, bytes))
    } else {
      self = .jpeg(bytes, orientation: try Orientation(image.orientation))
    }
  }
}

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

/// The place of a picture among those that depend on each other.
package enum StreamRole: Sendable, Hashable {
  /// Complete in itself: samples or a JPEG file.
  case independent
  /// A picture of a stream with which decoding can start.
  case keyFrame
  /// Depends on earlier pictures, and later ones depend on it.
  case reference
  /// Depends on earlier pictures, and later ones do not depend on it.
  case disposable
}

extension VideoPicture {
  /// The picture's role. Only H.264 states in a form that is read here that a picture is disposable;
  /// pictures of other codecs count as references.
  package var role: StreamRole {
    guard case .encoded(let frame) = self else { return .independent }
    if frame.isKeyFrame { return .keyFrame }
    return switch frame.format {
    case .h264: Self.roleInH264(frame.bytes)
    case .vp8: frame.bytes.first.map { $0 & 1 == 0 } == true ? .keyFrame : .reference
    // The marker of a frame, which does not show an earlier one, and is a key frame.
    case .vp9: frame.bytes.first.map { $0 & 0xCC == 0x80 } == true ? .keyFrame : .reference
    case .av1: Self.isKeyFrameOfAV1(frame.bytes) ? .keyFrame : .reference
    }
  }

  /// Reads the headers of the NAL units (ITU-T H.264, section 7.3.1).
  private static func roleInH264(_ bytes: [UInt8]) -> StreamRole {
    var (zeros, role): (Int, StreamRole?) = (0, nil)
    for (index, byte) in bytes.enumerated() {
      if byte == 1, zeros >= 2, index + 1 < bytes.count {
        let header = bytes[index + 1]
        switch header & 31 {
        case 5: return .keyFrame
        case 1: role = header >> 5 & 3 > 0 || role == .reference ? .reference : .disposable
        default: break
        }
      }
      zeros = byte == 0 ? zeros + 1 : 0
    }
    return role ?? .reference
  }

  /// Reads the first frame header of the open bitstream units (AV1, sections 5.3 and 5.9.2).
  private static func isKeyFrameOfAV1(_ bytes: [UInt8]) -> Bool {
    var offset = 0
    while offset < bytes.count {
      let header = bytes[offset]
      var start = offset + (header & 4 == 0 ? 1 : 2)
      var size = bytes.count - start
      if header & 2 != 0 {
        size = 0
        for shift in stride(from: 0, to: 35, by: 7) where start < bytes.count {
          size |= Int(bytes[start] & 0x7F) << shift
          start += 1
          if bytes[start - 1] & 0x80 == 0 { break }
        }
      }
      guard start < bytes.count else { return false }
      if [3, 6].contains(header >> 3 & 15) {
        // Does not show an earlier frame, is a key frame, and is shown.
        return bytes[start] & 0xF0 == 0x10
      }
      offset = start + size
    }
    return false
  }
}
