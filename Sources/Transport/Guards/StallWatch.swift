package import NIOCore

/// Tells whether a peer takes what waits for it. Looked at now and then, it costs writes nothing.
package struct StallWatch: Sendable {
  private let timeout: Duration
  private var taken = 0
  private var lastProgress = NIODeadline.now()

  package init(timeout: Duration) {
    self.timeout = timeout
  }

  /// How long to wait before the next look: a stall is noticed this much too late at most.
  var interval: Duration { self.timeout / 6 }

  /// The peer has something to take from now on.
  package mutating func begin(at now: NIODeadline) {
    self.lastProgress = now
  }

  /// - Parameter taken: What the peer has taken so far, all in all.
  /// - Returns: Whether it has taken nothing for too long.
  package mutating func isStalled(taken: Int, at now: NIODeadline) -> Bool {
    if taken != self.taken {
      self.taken = taken
      self.lastProgress = now
    }
    return Duration(now - self.lastProgress) >= self.timeout
  }
}
