/// What has become of the frames of a session, counted here. At any time `given` is the sum of the
/// others, over all connections that the session has had.
///
/// An outcome is counted when it is decided, not when it is taken.
public struct OutcomeCounts: Sendable, Hashable {
  /// Frames that `send` took in.
  public var given: UInt64 = 0
  /// Frames whose outcome is not known yet: they wait to be sent, or are in flight.
  public var undecided: UInt64 = 0
  /// Frames that the pipeline made.
  public var filtered: UInt64 = 0
  /// Frames that came back unchanged.
  public var passedThrough: UInt64 = 0
  /// Frames that a cheaper variant made.
  public var degraded: UInt64 = 0
  /// Frames that were not made, by reason; those that were dropped here among them.
  public var dropped: [DroppedFrame.Reason: UInt64] = [:]

  package init() {}

  package mutating func give() {
    self.given += 1
    self.undecided += 1
  }

  package mutating func decide(_ fate: Fate) {
    self.undecided -= 1
    switch fate {
    case .made(.filtered): self.filtered += 1
    case .made(.passedThrough): self.passedThrough += 1
    case .made(.degraded): self.degraded += 1
    case .dropped(let reason): self.dropped[reason, default: 0] += 1
    }
  }
}

/// What became of a frame, without the picture.
package enum Fate: Sendable, Hashable {
  case made(MadeFrame.Disposition)
  case dropped(DroppedFrame.Reason)
}
