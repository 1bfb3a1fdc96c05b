/// Selects the picture that replaces a frame while there is no connection. A pure state machine.
///
/// States: own <-> forced. While an operator's override is in force only frames that it filtered
/// are shown: neither originals, nor a last frame from before it. The revision identifies these
/// frames, because frames of an earlier revision can still return after the override is reported.
package struct FallbackPictureSource: Sendable {
  private let policy: ReconnectPolicy.FailOpen
  /// The revision of the override that is in force.
  private var override: UInt64?
  private var last: (picture: VideoPicture, revision: UInt64)?

  package init(policy: ReconnectPolicy.FailOpen) {
    self.policy = policy
  }

  /// Records whether an operator's override is in force.
  ///
  /// - Parameter revision: The revision of the override; `nil` if there is none.
  package mutating func setOverride(_ revision: UInt64?) {
    self.override = revision
    if let revision, let last, last.revision < revision { self.last = nil }
  }

  /// Records a new connection, on which revisions start again. The server has not yet reported
  /// whether an override is in force.
  package mutating func recordConnection() {
    self.override = nil
    self.last?.revision = 0
  }

  /// Records a filtered frame and its revision.
  package mutating func record(_ picture: VideoPicture, revision: UInt64) {
    guard self.policy == .lastFrame else { return }
    if let override, revision < override { return }
    self.last = (picture, revision)
  }

  /// Returns the picture that replaces a frame; `nil` if there is none.
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
