import ServiceLifecycle
import Synchronization

/// What one caller may still send. All his sessions and still images share it.
package final class CallerRateLimiter: Sendable {
  /// Which limit is used up, and for how long.
  struct LimitExceeded: Error, Sendable, Hashable {
    /// The limit's name and value, as clients are told.
    let limit: String
    /// How long until the same would be let in.
    let delay: Duration
  }

  private struct State {
    var quotas: Quotas
    var frames: TokenBucket?
    var bytes: TokenBucket?

    init(_ quotas: Quotas, at now: Duration) {
      self.quotas = quotas
      self.frames = quotas.framesPerSecond.map { TokenBucket(perSecond: $0, at: now) }
      self.bytes = quotas.bytesPerSecond.map { TokenBucket(perSecond: $0, at: now) }
    }
  }

  private let state: Mutex<State>
  private let clock: SessionClock

  init(_ quotas: Quotas, clock: SessionClock) {
    self.state = Mutex(State(quotas, at: clock.now()))
    self.clock = clock
  }

  /// Takes a frame of so many bytes of what is left; if there is too little, nothing.
  func take(frameOf byteCount: Int) throws(LimitExceeded) {
    let now = self.clock.now()
    let exhaustion: LimitExceeded? = self.state.withLock { state in
      let delays = (
        frames: state.frames?.delay(for: 1, at: now) ?? .zero,
        bytes: state.bytes?.delay(for: Double(byteCount), at: now) ?? .zero
      )
      if delays.frames > .zero, delays.frames >= delays.bytes {
        let limit = state.quotas.framesPerSecond ?? 0
        return LimitExceeded(limit: "frames_per_second is \(limit)", delay: delays.frames)
      }
      if delays.bytes > .zero {
        let limit = state.quotas.bytesPerSecond ?? 0
        return LimitExceeded(limit: "bytes_per_second is \(limit)", delay: delays.bytes)
      }
      state.frames?.take(1)
      state.bytes?.take(Double(byteCount))
      return nil
    }
    if let exhaustion { throw exhaustion }
  }

  /// Takes a frame of so many bytes.
  ///
  /// - Parameter waiting: Whether to wait until there is enough, for as long as the server runs.
  /// - Returns: Whether it was taken.
  package func takeFrame(of byteCount: Int, waiting: Bool) async -> Bool {
    while true {
      do throws(LimitExceeded) {
        try self.take(frameOf: byteCount)
        return true
      } catch {
        guard waiting, !Task.isCancelled, !Task.isShuttingDownGracefully else { return false }
        await self.clock.wait(error.delay)
      }
    }
  }

  /// Whether a new one would be the same.
  var isUnused: Bool {
    let now = self.clock.now()
    return self.state.withLock { state in
      (state.frames?.isFull(at: now) ?? true) && (state.bytes?.isFull(at: now) ?? true)
    }
  }

  /// Other limits hold from now on, as if nothing had been taken yet.
  func change(to quotas: Quotas) {
    let now = self.clock.now()
    self.state.withLock { $0 = State(quotas, at: now) }
  }
}
