import DequeModule
package import SidelightWire

/// Decides which frames of a stream of encoded video can be decoded.
///
/// Decoders do not tell: after one lost frame libvpx decodes wrong pictures without any error. A
/// frame whose reference is missing or damaged must not be shown, and no search for faces may trust
/// it. So every frame up to the next key frame is refused here.
package struct ReferenceTracker: Sendable {
  /// The decoded frames that `depends_on` may name.
  private static let maxDecoded = 64

  /// The reason why frames cannot be decoded before the next key frame, if any.
  package private(set) var missing: KeyFrameReason? = .start
  /// The last frame; `nil` if the next one must not depend on it.
  private var last: UInt64?
  private var decoded: Deque<UInt64> = []

  package init() {}

  /// Returns whether a frame can be decoded, in the order of arrival.
  ///
  /// - Parameter dependencies: The frames that it depends on; empty for the frame before it.
  /// - Returns: `nil`, or the reason to need a key frame.
  package mutating func check(
    _ sequence: UInt64, isKeyFrame: Bool, dependencies: [UInt64]
  ) -> KeyFrameReason? {
    let last = self.last
    self.last = sequence
    if isKeyFrame { return nil }
    if let missing = self.missing { return missing }
    guard dependencies.isEmpty else {
      if dependencies.allSatisfy(self.decoded.contains) { return nil }
      // Frames that state other dependencies can still be decoded.
      self.last = nil
      return .loss
    }
    if let last, sequence == last &+ 1 { return nil }
    self.missing = .loss
    return .loss
  }

  /// Records that a frame was decoded.
  package mutating func recordDecoded(_ sequence: UInt64, isKeyFrame: Bool) {
    if isKeyFrame {
      self.missing = nil
      self.decoded.removeAll(keepingCapacity: true)
    }
    if self.decoded.count == Self.maxDecoded { self.decoded.removeFirst() }
    self.decoded.append(sequence)
  }

  /// Records that a frame was not decoded although it had arrived, and that no other depends on it.
  package mutating func recordSkipped(_ sequence: UInt64) {
    // After a gap the next frame must find the loss.
    if let last = self.last, sequence == last || sequence == last &+ 1 { self.last = sequence }
  }

  /// Records that a frame that others depend on was not decoded.
  package mutating func recordMissing(_ reason: KeyFrameReason) {
    self.missing = self.missing ?? reason
  }
}
