/// What became of a frame. Each frame that was taken in has exactly one outcome, in order, whatever
/// happens to the connection.
public enum FrameOutcome: Sendable {
  /// It came back.
  case made(MadeFrame)
  /// It did not.
  case dropped(DroppedFrame)

  /// The frame's number, as ``FilterSession/send(_:)`` gave it.
  public var sequence: UInt64 {
    switch self {
    case .made(let frame): frame.sequence
    case .dropped(let frame): frame.sequence
    }
  }

  /// What to show now: the picture that came back, or what stands in for it. `nil`: nothing new.
  public var picture: VideoPicture? {
    switch self {
    case .made(let frame): frame.picture
    case .dropped(let frame): frame.standIn?.picture
    }
  }
}
