/// Says what is shown in place of frames that cannot be filtered for want of a connection. A pure
/// state machine.
///
/// Life: own <-> forced. While an operator's override is in force nothing is shown that it did not
/// make: neither originals, nor a last frame from before it. What it made is known by the revision:
/// the state may be told before frames come back that were made earlier.
package struct FallbackPictureSource: Sendable {
  private let policy: ReconnectPolicy.FailOpen
  /// The revision of the override that is in force.
  private var override: UInt64?
  private var last: (picture: VideoPicture, revision: UInt64)?

  package init(policy: ReconnectPolicy.FailOpen) {
    self.policy = policy
  }

  /// The server says where the session stands.
  ///
  /// - Parameter revision: That of the override in force, if one is.
  package mutating func setOverride(_ revision: UInt64?) {
    self.override = revision
    if let revision, let last, last.revision < revision { self.last = nil }
  }

  /// A new connection stands, which counts revisions anew. Whether an override is in force there is
  /// still to be told.
  package mutating func recordConnection() {
    self.override = nil
    self.last?.revision = 0
  }

  /// A frame came back, made with a revision.
  package mutating func record(_ picture: VideoPicture, revision: UInt64) {
    guard self.policy == .lastFrame else { return }
    if let override, revision < override { return }
    self.last = (picture, revision)
  }

  /// What stands in for a frame; `nil`: nothing.
  package func fallback(for original: VideoPicture) -> FallbackPicture? {
    switch self.policy {
    case .original:
      guard self.override == nil else { return nil }
      return FallbackPicture(kind: .original, picture: original)
    case .lastFrame: return self.last.map { FallbackPicture(kind: .lastFrame, picture: $0.picture) }
    case .nothing: return nil
    }
  }
}
