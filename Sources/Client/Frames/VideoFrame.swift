public import SidelightKernels
import SidelightWire

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
