import GRPCCore
import GRPCProtobuf
import ServiceLifecycle
package import SidelightWire
import Synchronization

/// The rate limits of all callers and participants. It keeps the limiters of callers and
/// participants that have sessions or have sent frames recently.
package final class RateLimiter: Sendable {
  private struct State {
    var quotas: Quotas
    var limiters: [CallerIdentity: CallerRateLimiter] = [:]
    /// The number of limiters at which unused ones are removed.
    var cleanupCount = RateLimiter.minCleanupCount
  }

  private static let minCleanupCount = 1024
  /// The number of limiters that a cleanup leaves, aside from the limiters of callers and of
  /// participants with sessions.
  private static let maxIdleCount = 16384

  private let state: Mutex<State>
  private let clock: SessionClock

  /// - Parameters:
  ///   - quotas: The limits of callers and participants.
  ///   - clock: The clock of the rates.
  package init(_ quotas: Quotas, clock: SessionClock) {
    self.state = Mutex(State(quotas: quotas))
    self.clock = clock
  }

  /// The limits of callers and participants. A change applies to known ones at once; open sessions
  /// continue.
  package var quotas: Quotas {
    get { self.state.withLock { $0.quotas } }
    set {
      self.state.withLock { state in
        state.quotas = newValue
        // A change of other settings does not refill the limiters.
        for (identity, limiter) in state.limiters {
          limiter.change(to: RateLimits(newValue, for: identity))
        }
      }
    }
  }

  /// Returns the limiter of a caller or participant, which all of its calls share. The limiter of a
  /// participant also charges its frames to its caller's limiter.
  package func limiter(of identity: CallerIdentity) -> CallerRateLimiter {
    self.state.withLock { state in
      if let limiter = state.limiters[identity] { return limiter }
      if state.limiters.count >= state.cleanupCount { Self.removeUnused(&state) }
      let parent = identity.parent.map { self.limiter(of: $0, parent: nil, &state) }
      return self.limiter(of: identity, parent: parent, &state)
    }
  }

  private func limiter(
    of identity: CallerIdentity, parent: CallerRateLimiter?, _ state: inout State
  ) -> CallerRateLimiter {
    if let limiter = state.limiters[identity] { return limiter }
    let limiter = CallerRateLimiter(
      RateLimits(state.quotas, for: identity), parent: parent, clock: self.clock)
    state.limiters[identity] = limiter
    return limiter
  }

  /// Accounts for a still image of a caller or participant.
  ///
  /// - Throws: RESOURCE_EXHAUSTED with the limit and the time to retry.
  func takeStill(of byteCount: Int, by identity: CallerIdentity) throws(GoogleRPCStatus) {
    do throws(CallerRateLimiter.LimitExceeded) {
      try self.limiter(of: identity).take(frameOf: byteCount)
    } catch {
      let subject = "\(error.isParticipant ? identity : identity.parent ?? identity)"
      throw GoogleRPCStatus(
        code: .resourceExhausted, message: "\(subject) has exceeded its rate: \(error.limit).",
        details: .quotaFailure(violations: [.init(subject: subject, description: error.limit)]),
        .retryInfo(delay: error.delay))
    }
  }

  /// Returns the limiters that fulfil a condition.
  ///
  /// - Parameter condition: Called with the lock held; must not call the rate limiter.
  func limiters(
    where condition: (CallerIdentity, CallerRateLimiter) -> Bool
  ) -> [(identity: CallerIdentity, limiter: CallerRateLimiter)] {
    // A copy of the dictionary would reference all limiters, and unused ones would stay.
    self.state.withLock { state in
      state.limiters.filter { condition($0.key, $0.value) }.map { ($0.key, $0.value) }
    }
  }

  /// The number of callers and participants whose limiters are kept.
  package var count: Int { self.state.withLock { $0.limiters.count } }

  private static func removeUnused(_ state: inout State) {
    // Participants first: their limiters reference their callers' limiters.
    self.remove(&state) { $0.isParticipant && $1.isUnused }
    // A caller can invent participants. Their debt is forgotten; the caller's limit still counts.
    if state.limiters.count > Self.maxIdleCount {
      self.remove(&state) { identity, _ in identity.isParticipant }
    }
    self.remove(&state) { !$0.isParticipant && $1.isUnused }
    state.cleanupCount = max(Self.minCleanupCount, 2 * state.limiters.count)
  }

  private static func remove(
    _ state: inout State, where condition: (CallerIdentity, CallerRateLimiter) -> Bool
  ) {
    var removed: [CallerIdentity] = []
    var index = state.limiters.startIndex
    while index != state.limiters.endIndex {
      // A limiter that a session references stays: its caller would have two limiters otherwise.
      if isKnownUniquelyReferenced(&state.limiters.values[index]),
        condition(state.limiters.keys[index], state.limiters.values[index])
      {
        removed.append(state.limiters.keys[index])
      }
      index = state.limiters.index(after: index)
    }
    for identity in removed { state.limiters[identity] = nil }
  }
}

/// The limits of a caller or of a participant.
struct RateLimits: Sendable, Hashable {
  let isParticipant: Bool
  let framesPerSecond: Double?
  let bytesPerSecond: Double?
  let codecBytes: Int

  /// - Parameter identity: The caller or participant that the limits are for.
  init(_ quotas: Quotas, for identity: CallerIdentity) {
    self.isParticipant = identity.isParticipant
    self.framesPerSecond =
      identity.isParticipant ? quotas.participant.framesPerSecond : quotas.framesPerSecond
    self.bytesPerSecond =
      identity.isParticipant ? quotas.participant.bytesPerSecond : quotas.bytesPerSecond
    self.codecBytes = quotas.codecBytes
  }
}

/// The rate limits of one caller or participant, shared by all of its sessions and still images.
package final class CallerRateLimiter: Sendable {
  /// The exceeded limit.
  struct LimitExceeded: Error, Sendable, Hashable {
    /// The limit's name and value, for clients.
    let limit: String
    let isParticipant: Bool
    /// The time after which the same request would be accepted.
    let delay: Duration
  }

  private struct State {
    var limits: RateLimits
    var frames: RateBudget?
    var bytes: RateBudget?

    init(_ limits: RateLimits, at now: Duration) {
      self.limits = limits
      self.frames = limits.framesPerSecond.map { RateBudget(perSecond: $0, at: now) }
      self.bytes = limits.bytesPerSecond.map { RateBudget(perSecond: $0, at: now) }
    }

    /// Returns the limit that a frame would exceed, if any.
    mutating func limitExceeded(byFrameOf byteCount: Int, at now: Duration) -> LimitExceeded? {
      self.frames?.offer(1)
      self.bytes?.offer(Double(byteCount))
      let delays = (
        frames: self.frames?.delay(for: 1, at: now) ?? .zero,
        bytes: self.bytes?.delay(for: Double(byteCount), at: now) ?? .zero
      )
      let prefix = self.limits.isParticipant ? "participant_" : ""
      if delays.frames > .zero, delays.frames >= delays.bytes {
        return LimitExceeded(
          limit: "\(prefix)frames_per_second is \(self.limits.framesPerSecond ?? 0)",
          isParticipant: self.limits.isParticipant, delay: delays.frames)
      }
      guard delays.bytes > .zero else { return nil }
      return LimitExceeded(
        limit: "\(prefix)bytes_per_second is \(self.limits.bytesPerSecond ?? 0)",
        isParticipant: self.limits.isParticipant, delay: delays.bytes)
    }

    mutating func take(frameOf byteCount: Int) {
      self.frames?.take(1)
      self.bytes?.take(Double(byteCount))
    }
  }

  private let state: Mutex<State>
  /// The limiter of a participant's caller, which accounts for the participant's frames too.
  private let parent: CallerRateLimiter?
  private let clock: SessionClock
  /// The memory of the caller's video codecs, which all of its participants share.
  let codecMemory: CodecMemory

  init(_ limits: RateLimits, parent: CallerRateLimiter?, clock: SessionClock) {
    self.state = Mutex(State(limits, at: clock.now()))
    self.parent = parent
    self.codecMemory = parent?.codecMemory ?? CodecMemory(limit: limits.codecBytes)
    self.clock = clock
  }

  /// Accounts for a frame, unless it exceeds a limit.
  func take(frameOf byteCount: Int) throws(LimitExceeded) {
    if let exceeded = self.limitExceeded(takingFrameOf: byteCount, at: self.clock.now()) {
      throw exceeded
    }
  }

  /// Accounts for a frame, unless it exceeds a limit of the participant or of its caller.
  ///
  /// The participant's lock is held while taking the caller's, never the other way round.
  private func limitExceeded(
    takingFrameOf byteCount: Int, at now: Duration
  ) -> LimitExceeded? {
    self.state.withLock { state in
      let exceeded =
        state.limitExceeded(byFrameOf: byteCount, at: now)
        ?? self.parent?.limitExceeded(takingFrameOf: byteCount, at: now)
      if exceeded == nil { state.take(frameOf: byteCount) }
      return exceeded
    }
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
        // The share in a fleet may have grown then.
        await self.clock.wait(min(error.delay, .seconds(1)))
      }
    }
  }

  /// Accounts for bytes of results, as a debt: later frames wait for the budget, or exceed it.
  func charge(byteCount: Int) {
    self.state.withLock { state in
      state.bytes?.offer(Double(byteCount))
      state.bytes?.take(Double(byteCount))
    }
    self.parent?.charge(byteCount: byteCount)
  }

  /// Whether all budgets are full, as in a new limiter.
  var isUnused: Bool {
    let now = self.clock.now()
    return self.state.withLock { state in
      (state.frames?.isFull(at: now) ?? true) && (state.bytes?.isFull(at: now) ?? true)
    }
  }

  /// Whether frames have arrived since the demand was last measured for a fleet.
  var isInDemand: Bool {
    self.state.withLock { $0.frames?.isInDemand == true || $0.bytes?.isInDemand == true }
  }

  /// Whether a frame was not permitted since the last exchange in a fleet.
  var isShort: Bool {
    self.state.withLock { $0.frames?.isShort == true || $0.bytes?.isShort == true }
  }

  /// Adds the use of the rates to a use to publish.
  ///
  /// - Parameter others: The last known use at the other servers.
  func add(to use: inout QuotaUse, with others: [QuotaUse], at now: Duration) {
    self.state.withLock { state in
      let sessions = use.sessions
      use.frames = state.frames?.use(
        with: others.compactMap(\.frames), sessions: sessions, at: now)
      use.bytes = state.bytes?.use(with: others.compactMap(\.bytes), sessions: sessions, at: now)
    }
  }

  /// Takes the shares of the rates that other servers leave.
  func divide(with others: [QuotaUse], at now: Duration) {
    self.state.withLock { state in
      state.frames?.divide(with: others.compactMap(\.frames), at: now)
      state.bytes?.divide(with: others.compactMap(\.bytes), at: now)
    }
  }

  /// Takes an equal share of the rates, unless the share is larger.
  ///
  /// - Parameter count: The number of servers.
  func takeEqualShare(among count: Int, at now: Duration) {
    self.state.withLock { state in
      state.frames?.takeEqualShare(among: count, at: now)
      state.bytes?.takeEqualShare(among: count, at: now)
    }
  }

  /// Changes the limits, and fills all budgets if that is a change.
  func change(to limits: RateLimits) {
    self.codecMemory.change(limit: limits.codecBytes)
    let now = self.clock.now()
    self.state.withLock { state in
      guard state.limits != limits else { return }
      state = State(limits, at: now)
    }
  }
}
