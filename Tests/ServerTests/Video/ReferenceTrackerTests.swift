import SidelightServer
import Testing

struct ReferenceTrackerTests {
  /// Checks a frame, and records it as decoded if it can be.
  private func decode(
    _ tracker: inout ReferenceTracker, _ sequence: UInt64, isKeyFrame: Bool = false,
    _ dependencies: [UInt64] = []
  ) -> KeyFrameReason? {
    let reason = tracker.check(sequence, isKeyFrame: isKeyFrame, dependencies: dependencies)
    if reason == nil { tracker.recordDecoded(sequence, isKeyFrame: isKeyFrame) }
    return reason
  }

  @Test func `a stream begins with a key frame`() {
    var tracker = ReferenceTracker()
    #expect(self.decode(&tracker, 1) == .start)
    #expect(self.decode(&tracker, 2) == .start)
    #expect(self.decode(&tracker, 3, isKeyFrame: true) == nil)
    #expect(self.decode(&tracker, 4) == nil)
  }

  @Test func `a gap is a loss until the next key frame`() {
    var tracker = ReferenceTracker()
    #expect(self.decode(&tracker, 1, isKeyFrame: true) == nil)
    #expect(self.decode(&tracker, 3) == .loss)
    #expect(self.decode(&tracker, 4) == .loss)
    #expect(self.decode(&tracker, 5, isKeyFrame: true) == nil)
    #expect(self.decode(&tracker, 6) == nil)
  }

  @Test func `stated dependencies replace the rule about gaps`() {
    var tracker = ReferenceTracker()
    #expect(self.decode(&tracker, 1, isKeyFrame: true) == nil)
    // 2 is left out on purpose.
    #expect(self.decode(&tracker, 3, [1]) == nil)
    // 5 depends on 4, which is missing; 6 does not.
    #expect(self.decode(&tracker, 5, [4]) == .loss)
    #expect(self.decode(&tracker, 6, [3]) == nil)
  }

  @Test func `a skipped frame is no loss, and a missing one is`() {
    var tracker = ReferenceTracker()
    #expect(self.decode(&tracker, 1, isKeyFrame: true) == nil)
    tracker.recordSkipped(2)
    #expect(self.decode(&tracker, 3) == nil)
    #expect(tracker.check(4, isKeyFrame: false, dependencies: []) == nil)
    tracker.recordMissing(.damage)
    #expect(self.decode(&tracker, 5) == .damage)
    // Damage has left the decoder without a state, whatever a frame depends on.
    #expect(self.decode(&tracker, 6, [3]) == .damage)
    #expect(self.decode(&tracker, 7, isKeyFrame: true) == nil)
  }

  @Test func `a frame that cannot be decoded is no predecessor`() {
    var tracker = ReferenceTracker()
    #expect(self.decode(&tracker, 1, isKeyFrame: true) == nil)
    #expect(self.decode(&tracker, 3, [2]) == .loss)
    #expect(self.decode(&tracker, 4) == .loss)
  }

  @Test func `a skipped frame does not hide a gap before it`() {
    var tracker = ReferenceTracker()
    #expect(self.decode(&tracker, 1, isKeyFrame: true) == nil)
    tracker.recordSkipped(3)
    #expect(self.decode(&tracker, 4) == .loss)
  }

  @Test func `dependencies on frames before a key frame do not hold`() {
    var tracker = ReferenceTracker()
    #expect(self.decode(&tracker, 1, isKeyFrame: true) == nil)
    #expect(self.decode(&tracker, 2, isKeyFrame: true) == nil)
    #expect(self.decode(&tracker, 3, [1]) == .loss)
    #expect(self.decode(&tracker, 4, [2]) == nil)
  }
}
