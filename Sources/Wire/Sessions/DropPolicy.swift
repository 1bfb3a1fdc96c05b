/// The frame to drop when frames arrive faster than they are filtered.
public enum DropPolicy: Sendable, Hashable {
  /// The oldest waiting frame, on the client and at the server. For live video.
  case newestWins
  /// The newest frame, at the server; on the client `send` waits.
  case keepOldest
  /// Frames are never dropped; `send` waits. For offline jobs.
  case neverDrop
}

extension Sidelight_V1_DropPolicy {
  package init(_ policy: DropPolicy) {
    self =
      switch policy {
      case .newestWins: .newestWins
      case .keepOldest: .keepOldest
      case .neverDrop: .neverDrop
      }
  }
}
