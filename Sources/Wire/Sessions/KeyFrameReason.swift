/// The reason why the server needs a key frame.
public enum KeyFrameReason: Sendable, Hashable {
  /// The stream began without one.
  case start
  /// A frame is missing.
  case loss
  /// A frame is damaged.
  case damage
  /// Decoding takes more time than the budgets of the frames leave.
  case tooSlow
  /// A reason of a newer server, which is unknown to this version.
  case other

  package init(_ wire: Sidelight_V1_KeyFrameReason) {
    switch wire {
    case .start: self = .start
    case .loss: self = .loss
    case .damage: self = .damage
    case .tooSlow: self = .tooSlow
    case .unspecified, .UNRECOGNIZED: self = .other
    }
  }
}

extension Sidelight_V1_KeyFrameReason {
  package init(_ reason: KeyFrameReason) {
    self =
      switch reason {
      case .start: .start
      case .loss: .loss
      case .damage: .damage
      case .tooSlow: .tooSlow
      case .other: .unspecified
      }
  }
}
