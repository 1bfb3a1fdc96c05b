/// What an analysis stage saw in a frame.
public struct Analysis: Sendable, Hashable {
  /// A thing that an analysis found. Places and sizes are in the frame's pixels.
  public struct Detection: Sendable, Hashable {
    /// What it is: "face".
    public var kind: String
    /// The same thing has the same number from frame to frame.
    public var trackingID: UInt64
    /// 0 ... 1.
    public var confidence: Double
    /// Left edge.
    public var x: Double
    /// Top edge.
    public var y: Double
    /// Extent to the right.
    public var width: Double
    /// Extent downwards.
    public var height: Double
  }

  /// The frame that was looked at.
  public var sequence: UInt64
  /// The stage's id or place.
  public var stage: String
  /// The filter's name.
  public var filter: String
  /// From the frame's receipt to the telling, on the server.
  public var age: Duration
  /// Figures by name, as the filter's description lists them.
  public var figures: [String: Double]
  /// Things found.
  public var detections: [Detection]
}
