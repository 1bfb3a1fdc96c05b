import GRPCCore
import GRPCProtobuf
import ServiceLifecycle
package import SidelightWire
import Synchronization

/// The rate limits of all callers. It keeps the limiters of callers that have sessions or have sent
/// something recently.
package final class RateLimiter: Sendable {
  private struct State {
    var quotas: Quotas
    var callers: [String: CallerRateLimiter] = [:]
    /// The number of callers at which unused limiters are removed.
    var cleanupCount = RateLimiter.minCleanupCount
  }

  private static let minCleanupCount = 1024

  private let state: Mutex<State>
  private let clock: SessionClock

  /// - Parameters:
  ///   - quotas: The limits of each caller.
  ///   - clock: The clock of the rates.
  package init(_ quotas: Quotas, clock: SessionClock) {
    self.state = Mutex(State(quotas: quotas))
    self.clock = clock
  }

  /// The limits of each caller. A change applies to known callers at once; open sessions continue.
  package var quotas: Quotas {
    get { self.state.withLock { $0.quotas } }
    set {
      self.state.withLock { state in
        // A change of other settings must not refill the callers' limiters.
        guard state.quotas != newValue else { return }
        state.quotas = newValue
        for limiter in state.callers.values { limiter.change(to: newValue) }
      }
    }
  }

  /// Returns the limiter of a caller, which all calls of the caller share.
  package func limiter(of caller: String) -> CallerRateLimiter {
    self.state.withLock { state in
      if let limiter = state.callers[caller] { return limiter }
      if state.callers.count >= state.cleanupCount { Self.removeUnused(&state) }
      let limiter = CallerRateLimiter(state.quotas, clock: self.clock)
      state.callers[caller] = limiter
      return limiter
    }
  }

  /// Accounts for a still image of a caller.
  ///
  /// - Throws: RESOURCE_EXHAUSTED with the limit and the time to retry.
  func takeStill(of byteCount: Int, by caller: String) throws(GoogleRPCStatus) {
    do throws(CallerRateLimiter.LimitExceeded) {
      try self.limiter(of: caller).take(frameOf: byteCount)
    } catch {
      throw GoogleRPCStatus(
        code: .resourceExhausted, message: "\(caller) has exceeded its rate: \(error.limit).",
        details: .quotaFailure(violations: [.init(subject: caller, description: error.limit)]),
        .retryInfo(delay: error.delay))
    }
  }

  /// The number of callers whose limiters are kept.
  package var count: Int { self.state.withLock { $0.callers.count } }

  private static func removeUnused(_ state: inout State) {
    var unused: [String] = []
    var index = state.callers.startIndex
    while index != state.callers.endIndex {
      // A limiter that a session references stays: the caller would have two otherwise.
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

/// The rate limits of one caller, shared by all of its sessions and still images.
package final class CallerRateLimiter: Sendable {
  /// The limit that is exceeded.
  struct LimitExceeded: Error, Sendable, Hashable {
    /// The limit's name and value, for clients.
    let limit: String
    /// The time after which the same request would be accepted.
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

  /// Accounts for a frame. Takes nothing if a limit is exceeded.
  func take(frameOf byteCount: Int) throws(LimitExceeded) {
    let now = self.clock.now()
    let exceeded: LimitExceeded? = self.state.withLock { state in
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
    if let exceeded { throw exceeded }
  }

  /// Accounts for a frame, after waiting for the budgets if `waiting` is set.
  ///
  /// - Parameter waiting: Whether to wait until the limits allow the frame, or the server shuts
  ///   down.
  /// - Returns: Whether the frame is accepted.
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

  /// Whether all budgets are full, as in a new limiter.
  var isUnused: Bool {
    let now = self.clock.now()
    return self.state.withLock { state in
      (state.frames?.isFull(at: now) ?? true) && (state.bytes?.isFull(at: now) ?? true)
    }
  }

  /// Changes the limits, and fills all budgets.
  func change(to quotas: Quotas) {
    let now = self.clock.now()
    self.state.withLock { $0 = State(quotas, at: now) }
  }
}
