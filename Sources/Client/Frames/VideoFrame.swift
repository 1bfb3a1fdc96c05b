public import SidelightKernels

/// A frame on its way to the server, with what the caller wants back beside its outcome.
public struct VideoFrame: Sendable {
  /// The picture.
  public var picture: Frame
  /// When the picture was taken, on the caller's clock, in nanoseconds. Comes back untouched.
  public var captureTimeNanoseconds: Int64
  /// The RTP timestamp. Comes back untouched.
  public var rtpTimestamp: UInt32
  /// Comes back untouched; at most 16 entries and 1 KiB.
  public var tags: [String: String]
  /// The W3C `traceparent` that the frame's spans are children of. `nil`: that of the current
  /// `ServiceContext`, if it has one.
  public var traceparent: String?

  /// Prepares a picture to be sent.
  public init(
    _ picture: Frame, captureTimeNanoseconds: Int64 = 0, rtpTimestamp: UInt32 = 0,
    tags: [String: String] = [:], traceparent: String? = nil
  ) {
    self.picture = picture
    self.captureTimeNanoseconds = captureTimeNanoseconds
    self.rtpTimestamp = rtpTimestamp
    self.tags = tags
    self.traceparent = traceparent
  }
}
