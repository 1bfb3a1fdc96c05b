package import SidelightWire

/// Selects the picture that replaces a frame while disconnected. A pure state machine.
///
/// States: own <-> forced. While an operator's override is active only frames that it filtered are
/// shown: neither originals, nor an earlier last frame. The revision identifies these frames,
/// because frames of an earlier revision can still return after the override is reported.
///
/// While the participant's pipeline hides a part of its frames, originals are not shown either, nor
/// a last frame in which that part is visible.
///
/// Originals of encoded video are shown from a key frame on, and only without a gap: the receiver
/// has the server's pictures, on which originals do not depend.
package struct FallbackPictureSource: Sendable {
  private struct LastFrame {
    let picture: VideoPicture
    var revision: UInt64
    /// The parts that it certainly hides.
    let protection: PipelineProtection
  }

  private let policy: ReconnectPolicy.FailOpen
  /// The revision of the active override.
  private var override: UInt64?
  /// Whether ``override`` was active on the last connection, and the server hasn't reported on this
  /// one whether it still is.
  private var isOverrideUncertain = false
  /// The revision of the participant's pipeline that was reported without a request.
  private var ownRevision: UInt64?
  /// The revision of the frames that come back, and the parts that its pipeline hides, if known.
  private var applied: (revision: UInt64, protection: PipelineProtection)?
  private var last: LastFrame?
  /// The number of the last original of encoded video that was shown.
  private var lastOriginal: UInt64?
  /// Whether the last frame is not shown because it depends on frames that were not shown.
  package private(set) var needsKeyFrame = false

  package init(policy: ReconnectPolicy.FailOpen) {
    self.policy = policy
  }

  /// Whether an operator's override is or may be active.
  package var isOverridden: Bool { self.override != nil }

  /// Records an operator's override.
  package mutating func setOverride(_ revision: UInt64) {
    self.override = revision
    self.isOverrideUncertain = false
    self.ownRevision = nil
    if let last, last.revision < revision { self.last = nil }
  }

  /// Records that an override is not active.
  ///
  /// - Parameter revision: The active revision.
  package mutating func endOverride(at revision: UInt64) {
    self.override = nil
    self.isOverrideUncertain = false
    self.ownRevision = revision
  }

  /// Records a new connection, on which revisions start again. An override counts as active until
  /// the server reports otherwise or activates a pipeline without reporting an override.
  ///
  /// - Parameter revision: The active revision.
  package mutating func recordConnection(revision: UInt64) {
    self.isOverrideUncertain = self.override != nil
    self.override = self.override.map { _ in 0 }
    self.ownRevision = revision
    self.applied = nil
    self.last?.revision = 0
  }

  /// Records a pipeline that becomes active, before its frames.
  ///
  /// - Parameters:
  ///   - requestID: The number of the request that created it, or 0.
  ///   - protection: The parts that the participant's pipeline hides with it.
  package mutating func recordApplied(
    _ revision: UInt64, requestID: UInt64, protection: PipelineProtection
  ) {
    if self.isOverrideUncertain {
      self.override = nil
      self.isOverrideUncertain = false
    }
    // Without a request it may be the pipeline of an override.
    let isOwn = requestID > 0 || revision == self.ownRevision
    self.applied = (revision, isOwn ? protection : [])
  }

  /// Records a frame that came back.
  package mutating func record(
    _ picture: VideoPicture, revision: UInt64, disposition: FrameDisposition
  ) {
    // A picture of a stream cannot be shown again, and outputs have their own.
    guard self.policy == .lastFrame, picture.frame != nil || picture.jpeg != nil else { return }
    if let override, revision < override { return }
    var protection: PipelineProtection = []
    if let applied, applied.revision == revision, disposition != .passedThrough {
      protection = applied.protection
    }
    self.last = LastFrame(picture: picture, revision: revision, protection: protection)
  }

  /// Records that originals of encoded video that were returned may not be shown.
  package mutating func endStream() {
    self.lastOriginal = nil
  }

  /// Returns the picture that replaces a frame, if any.
  ///
  /// - Parameter protection: The parts of frames that the participant's pipeline may hide.
  package mutating func fallback(
    for original: VideoPicture, sequence: UInt64, hiding protection: PipelineProtection
  ) -> FallbackPicture? {
    self.needsKeyFrame = false
    switch self.policy {
    case .original:
      guard self.override == nil, protection.isEmpty else { return nil }
      switch original.role {
      case .independent: break
      case .keyFrame: self.lastOriginal = sequence
      case .reference, .disposable:
        guard let lastOriginal, lastOriginal + 1 == sequence else {
          self.needsKeyFrame = true
          return nil
        }
        self.lastOriginal = sequence
      }
      return FallbackPicture(kind: .original, picture: original)
    case .lastFrame:
      // The pictures of an override are shown to viewers anyway, whatever it hides.
      guard let last, self.override != nil || last.protection.isSuperset(of: protection) else {
        return nil
      }
      return FallbackPicture(kind: .lastFrame, picture: last.picture)
    case .nothing: return nil
    }
  }
}
