/// Limits the work of receiving frames that newer ones displace.
///
/// Receiving a frame that is displaced in the mailbox is wasted work. Small frames with much work
/// cost little that way, and the displacing one is fresher. Receiving a large frame costs as much
/// as its filters: a server that receives every frame of an overload filters half of its possible
/// frames. A session may therefore spend a tenth of its useful work on frames that are displaced.
/// Beyond it the reader waits until the worker has taken the waiting frame, and flow control keeps
/// further frames at the sender, where newer ones replace them before they are sent.
package struct ReceptionBudget: ~Copyable {
  /// The fraction of useful work that may be spent on displaced frames.
  private static let fraction = 0.1
  /// The displaced frames that cost no delay after a time without displacement, and the minimum
  /// time for them.
  private static let burst = (frames: 4, time: Duration.milliseconds(4))

  /// The work that may still be spent, or `nil` before the first frame.
  private var balance: Duration?
  /// Whether the work of the waiting frame is known. The budget applies only then.
  private var isWorkKnown = false

  package init() {}

  /// Whether the reader waits for room rather than displace another frame.
  package var isSpent: Bool { self.isWorkKnown && self.balance.map { $0 < .zero } ?? false }

  /// Accounts for a frame accepted into the mailbox.
  ///
  /// - Parameters:
  ///   - byteCount: The number of received bytes.
  ///   - work: The expected work of its filters, or `nil` if unknown.
  package mutating func accept(byteCount: Int, work: Duration?) {
    let cost = Self.cost(byteCount)
    let allowance = (cost + (work ?? .zero)) * Self.fraction
    let limit = max(cost * Self.burst.frames, allowance, Self.burst.time)
    self.isWorkKnown = work != nil
    self.balance = min(limit, (self.balance ?? limit) + allowance)
  }

  /// Accounts for a displaced frame.
  ///
  /// - Parameter byteCount: The number of received bytes.
  package mutating func displace(byteCount: Int) {
    self.balance = (self.balance ?? .zero) - Self.cost(byteCount)
  }

  /// Returns the time to receive a frame. Measured: 1.38 MB take an event loop .6 ms on a quiet
  /// machine, and twice that on a busy one.
  private static func cost(_ byteCount: Int) -> Duration { .nanoseconds(byteCount) }
}

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
