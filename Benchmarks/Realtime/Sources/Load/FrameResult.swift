/// The state of a frame.
enum FrameResult: Sendable {
  /// The frame waits at the sender.
  case waiting
  /// The frame is sent, and waits for its outcome.
  case sent(at: ContinuousClock.Instant)
  /// The frame is filtered, with its age on arrival and the server's work.
  case delivered(age: Duration, work: Duration)
  case dropped(DropReason)
}
