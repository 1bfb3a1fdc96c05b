/// Says what is shown in place of frames that cannot be filtered for want of a connection. A pure
/// state machine.
///
/// Life: own <-> forced. While an operator's override is in force nothing is shown that it did not
/// make: neither originals, nor a last frame from before it.
package struct StandInSource: Sendable {
  private enum Override {
    case none
    /// It is in force, but frames from before it may still come.
    case announced
    /// Frames that come were made by it.
    case applied
  }

  private let policy: ReconnectPolicy.FailOpen
  private var override = Override.none
  private var last: VideoPicture?

  package init(policy: ReconnectPolicy.FailOpen) {
    self.policy = policy
  }

  /// The server says whether an override is in force.
  package mutating func note(isOverridden: Bool) {
    guard isOverridden else {
      self.override = .none
      return
    }
    guard case .none = self.override else { return }
    self.override = .announced
    self.last = nil
  }

  /// The server says that frames that come from now on are made by a change.
  ///
  /// - Parameter requestID: 0 for overrides.
  package mutating func note(appliedRequest requestID: UInt64) {
    if case .announced = self.override, requestID == 0 { self.override = .applied }
  }

  /// A frame came back.
  package mutating func note(_ picture: VideoPicture) {
    guard self.policy == .lastFrame else { return }
    if case .announced = self.override { return }
    self.last = picture
  }

  /// What stands in for a frame; `nil`: nothing.
  package func standIn(for original: VideoPicture) -> StandIn? {
    switch self.policy {
    case .original:
      guard case .none = self.override else { return nil }
      return StandIn(kind: .original, picture: original)
    case .lastFrame: return self.last.map { StandIn(kind: .lastFrame, picture: $0) }
    case .nothing: return nil
    }
  }
}
