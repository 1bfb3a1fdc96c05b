import GRPCCore
import GRPCProtobuf
import ServiceLifecycle
import Synchronization

/// What each caller may still send. Remembers those who have sessions, or have lately taken something.
package final class RateLimiter: Sendable {
  private struct State {
    var quotas: Quotas
    var callers: [String: CallerRateLimiter] = [:]
    /// So many callers are looked through for those that need not be remembered.
    var cleanupCount = RateLimiter.minCleanupCount
  }

  private static let minCleanupCount = 1024

  private let state: Mutex<State>
  private let clock: SessionClock

  /// - Parameters:
  ///   - quotas: What each caller may use.
  ///   - clock: By which rates are measured.
  package init(_ quotas: Quotas, clock: SessionClock) {
    self.state = Mutex(State(quotas: quotas))
    self.clock = clock
  }

  /// What callers may use. Those that are there have the new limits at once; sessions beyond stay.
  package var quotas: Quotas {
    get { self.state.withLock { $0.quotas } }
    set {
      self.state.withLock { state in
        // What callers have used up is not forgiven because something else was changed.
        guard state.quotas != newValue else { return }
        state.quotas = newValue
        for allowance in state.callers.values { allowance.change(to: newValue) }
      }
    }
  }

  /// What a caller may still send. Whoever holds on to it shares it with the caller's other calls.
  package func limiter(of caller: String) -> CallerRateLimiter {
    self.state.withLock { state in
      if let allowance = state.callers[caller] { return allowance }
      if state.callers.count >= state.cleanupCount { Self.removeUnused(&state) }
      let allowance = CallerRateLimiter(state.quotas, clock: self.clock)
      state.callers[caller] = allowance
      return allowance
    }
  }

  /// Takes a still image of so many bytes of what a caller may send.
  ///
  /// - Throws: RESOURCE_EXHAUSTED that names the limit, and says when to ask again.
  func takeStill(of byteCount: Int, by caller: String) throws(GoogleRPCStatus) {
    do throws(CallerRateLimiter.LimitExceeded) {
      try self.limiter(of: caller).take(frameOf: byteCount)
    } catch {
      throw GoogleRPCStatus(
        code: .resourceExhausted, message: "\(caller) sends too much: \(error.limit).",
        details: .quotaFailure(violations: [.init(subject: caller, description: error.limit)]),
        .retryInfo(delay: error.delay))
    }
  }

  /// How many callers are remembered.
  package var count: Int { self.state.withLock { $0.callers.count } }

  private static func removeUnused(_ state: inout State) {
    var unused: [String] = []
    var index = state.callers.startIndex
    while index != state.callers.endIndex {
      // What a session holds it would go on using, beside the new one of the caller's next.
      if isKnownUniquelyReferenced(&state.callers.values[index]),
        state.callers.values[index].isUnused
      {
        unused.append(state.callers.keys[index])
      }
      index = state.callers.index(after: index)
    }
    for caller in unused { state.callers[caller] = nil }
    state.cleanupCount = max(Self.minCleanupCount, 2 * state.callers.count)
  }
}

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
