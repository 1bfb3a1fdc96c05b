/// A frame that came back.
public struct MadeFrame: Sendable {
  /// What was done to a frame that came back.
  public enum Disposition: String, Sendable, Hashable, CaseIterable {
    /// The pipeline made it.
    case filtered
    /// It is the input: no stage was active, the session is paused, or a stage failed.
    case passedThrough
    /// A cheaper variant of the pipeline made it.
    case degraded
  }

  /// The frame's number.
  public var sequence: UInt64
  /// The picture.
  public var picture: VideoPicture
  /// What was done.
  public var disposition: Disposition
  /// The revision of the pipeline that made it.
  public var revision: UInt64
  /// The caller's own.
  public var captureTimeNanoseconds: Int64
  /// The caller's own.
  public var rtpTimestamp: UInt32
  /// The caller's own.
  public var tags: [String: String]
  /// From receipt to the start of the work, on the server.
  public var queueTime: Duration
  /// The work, on the server.
  public var processTime: Duration
  /// From the call of `send` to the outcome's arrival, here.
  public var roundTripTime: Duration
  /// Why a frame passed through although its pipeline is not empty.
  public var failure: String?
}
