/// A picture that is shown in place of one that could not be filtered for want of a connection.
public struct StandIn: Sendable {
  /// Where a picture comes from.
  public enum Kind: String, Sendable, Hashable {
    /// It is the frame as it was given: **not filtered**.
    case original
    /// It is the last frame that came back.
    case lastFrame
  }

  /// Where it comes from.
  public var kind: Kind
  /// The picture.
  public var picture: VideoPicture
}
