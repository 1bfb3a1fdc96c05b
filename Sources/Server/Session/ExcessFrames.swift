/// Limits the bytes of frames that a client sends beyond its credits.
///
/// Such frames are dropped, but receiving them takes processors and memory bandwidth from other
/// sessions. A client that exceeds the rate is delayed: the server reads its next message once the
/// rate allows, and HTTP/2's flow control holds back the rest. The bytes of a second may arrive at
/// once.
struct ExcessFrames: ~Copyable {
  /// The bytes per second that cost no delay: two sessions of 320x180 I420 frames at 90 a second.
  static let bytesPerSecond = 16 << 20

  private var bytes: TokenBucket

  /// - Parameter now: The time; the budget is full then.
  init(at now: Duration) {
    self.bytes = TokenBucket(perSecond: Double(Self.bytesPerSecond), at: now)
  }

  /// Accounts for a frame dropped because the client exceeded its credits.
  mutating func take(byteCount: Int) {
    self.bytes.take(Double(byteCount))
  }

  /// Returns the time until the next message may be read, or zero if it may now.
  mutating func delay(at now: Duration) -> Duration {
    self.bytes.delay(for: 1, at: now)
  }
}
