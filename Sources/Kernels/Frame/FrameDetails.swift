/// The values of a frame that stages can show: its time, its number, and the names of its stream.
public struct FrameDetails: Sendable, Hashable {
  /// The capture time in nanoseconds since the start of 1970 in UTC, as reported by the sender.
  public var captureNanoseconds: Int64
  /// The number that the sender gave the frame.
  public var sequence: UInt64
  /// The name of the stream; may be empty.
  public var label: String
  /// The name of the person or program that owns the stream; may be empty.
  public var participant: String
  /// The texts that the sender attached to the frame, by key.
  public var tags: [String: String]

  /// Creates the values of a frame.
  public init(
    captureNanoseconds: Int64 = 0, sequence: UInt64 = 0, label: String = "",
    participant: String = "", tags: [String: String] = [:]
  ) {
    self.captureNanoseconds = captureNanoseconds
    self.sequence = sequence
    self.label = label
    self.participant = participant
    self.tags = tags
  }
}
