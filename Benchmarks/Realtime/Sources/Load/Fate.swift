/// What became of a frame.
enum Fate: Sendable {
  /// Still with the sender.
  case waiting
  /// Sent, without outcome.
  case sent
  /// It came back, so long after it was given to be sent; on the server it took so much work.
  case made(age: Duration, work: Duration)
  case dropped(DropReason)
}
