public import SidelightKernels

/// A frame on its way to the server, with what the caller wants back beside its outcome.
public struct VideoFrame: Sendable {
  /// The picture.
  public var picture: VideoPicture
  /// When the picture was taken, on the caller's clock, in nanoseconds. Comes back untouched.
  public var captureTimeNanoseconds: Int64
  /// The RTP timestamp. Comes back untouched.
  public var rtpTimestamp: UInt32
  /// The time from its receipt at the server in which this frame is of use, in whole microseconds.
  /// `nil`: the session's; `.zero`: any.
  public var budget: Duration?
  /// When one of the session's waiting frames has to go, it is one of the lowest priority; among
  /// equals the oldest. Default: 0.
  public var priority: Int32
  /// Whether the frame is neither displaced nor dropped for time, once it is sent.
  public var mustProcess: Bool
  /// Comes back untouched; at most 16 entries and 1 KiB.
  public var tags: [String: String]
  /// The W3C `traceparent` that the frame's spans are children of. `nil`: that of the current
  /// `ServiceContext`, if it has one.
  public var traceparent: String?

  /// Prepares samples to be sent.
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

  /// Prepares a picture to be sent.
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
