import GRPCCore
import GRPCProtobuf

/// Decides whether, when, at which address and with which token a session is opened again after it
/// lost its connection. A pure state machine; times and random numbers are parameters.
///
/// States: opening -> open -> waiting -> opening ... -> over. Waits are random between zero and a
/// ceiling that doubles from attempt to attempt ("full jitter", AWS Architecture Blog, 2015).
package struct Reconnector: Sendable {
  /// The next step.
  package enum Action: Sendable, Hashable {
    /// Make another attempt.
    case retry(Attempt, after: Duration)
    /// End the session.
    case end
  }

  /// An attempt to open a session.
  package struct Attempt: Sendable, Hashable {
    /// The number in the series of attempts after a loss, from 1; 0 for a session's first
    /// attempt.
    package var number: Int
    /// The index of the address.
    package var address: Int
    /// Whether the attempt presents a resume token, if available.
    package var usesToken: Bool
    /// The time limit, if it is shorter than the policy's.
    package var timeout: Duration?

    package init(number: Int, address: Int, usesToken: Bool, timeout: Duration? = nil) {
      self.number = number
      self.address = address
      self.usesToken = usesToken
      self.timeout = timeout
    }
  }

  /// The attempts that follow each other at once while the network is silent. A packet that opens a
  /// connection is otherwise repeated only after a second or more, when the network may long be
  /// back.
  package static let silentAttempts = 10

  private let policy: ReconnectPolicy?
  /// The shortest time that an opening took.
  private var fastestOpening: Duration?
  /// The times from which the addresses may be tried again.
  private var availableFrom: [Duration]
  package private(set) var attempt = Attempt(number: 0, address: 0, usesToken: true)
  /// The time at which the current connection was opened.
  private var opened: Duration?
  /// The time at which the series of attempts began.
  private var lost: Duration?

  /// - Parameters:
  ///   - policy: The policy. `nil` ends the session at the first loss.
  ///   - addressCount: The number of addresses, at least 1.
  package init(policy: ReconnectPolicy?, addressCount: Int) {
    self.policy = policy
    self.availableFrom = Array(repeating: .zero, count: addressCount)
  }

  /// Records that an attempt succeeded.
  ///
  /// - Parameter duration: The time that it took.
  package mutating func open(at now: Duration, after duration: Duration) {
    self.opened = now
    self.fastestOpening = min(duration, self.fastestOpening ?? duration)
    self.attempt.usesToken = true
  }

  /// Records that the session has moved to another connection.
  ///
  /// - Parameter address: The index of its address; `nil` for one that the server has named.
  package mutating func move(to address: Int?) {
    self.attempt = Attempt(number: 0, address: address ?? self.attempt.address, usesToken: true)
    self.lost = nil
  }

  /// Records that the connection is lost or that an attempt failed.
  ///
  /// - Parameter random: Returns a uniform random number in 0 ..< 1.
  /// - Returns: The next step.
  package mutating func lose(
    _ failure: LinkFailure, at now: Duration, random: () -> Double
  ) -> Action {
    guard let policy else { return .end }
    let opened = self.opened.take()
    // A connection that is lost soon after it opened belongs to the series before it.
    if let opened, now - opened >= policy.maxDelay || self.lost == nil {
      self.attempt.number = 0
      self.lost = nil
    }
    switch failure {
    case .permanent: return .end
    case .precondition:
      guard opened == nil, self.attempt.usesToken else { return .end }
      self.attempt.usesToken = false
      return .retry(self.attempt, after: .zero)
    case .exhausted(let delay): self.availableFrom[self.attempt.address] = now + delay
    case .transient, .silent: break
    }
    let lost = self.lost ?? now
    self.lost = lost
    if let limit = policy.giveUpAfter, now - lost >= limit { return .end }
    if let limit = policy.maxAttempts, self.attempt.number >= limit { return .end }
    let doublings = self.attempt.number - (failure == .silent ? Self.silentAttempts : 0)
    // Doubled 32 times, a millisecond is 50 days.
    let doubled = policy.initialDelay * (1 << min(max(0, doublings), 32))
    let ceiling = min(policy.maxDelay, doubled)
    self.attempt.number += 1
    self.attempt.timeout = nil
    if failure == .silent, self.attempt.number <= Self.silentAttempts {
      self.attempt.timeout = self.fastestOpening.map { .milliseconds(250) + $0 * 1.5 }
    }
    self.attempt.address = (self.attempt.address + 1) % self.availableFrom.count
    let serverDelay = max(.zero, self.availableFrom[self.attempt.address] - now)
    return .retry(self.attempt, after: serverDelay + ceiling * random())
  }
}

/// The cause of an error: no message came from the server.
struct LinkSilence: Error {}

/// The kind of failure that ended a connection or an attempt to open one.
package enum LinkFailure: Sendable, Hashable {
  /// Another attempt may succeed: the server is gone, shutting down, or failing.
  case transient
  /// As `transient`; no message came from the server.
  case silent
  /// The server is out of capacity, and states when to retry.
  case exhausted(retryAfter: Duration)
  /// A precondition of the session is not met. For an attempt with a resume token: the token is
  /// invalid.
  case precondition
  /// A retry would fail the same way.
  case permanent

  package init(_ error: any Error) {
    guard let error = error as? RPCError else {
      self = .permanent
      return
    }
    if error.cause is LinkSilence {
      self = .silent
      return
    }
    switch error.code {
    case .unavailable, .cancelled, .unknown, .internalError, .aborted, .deadlineExceeded:
      self = .transient
    case .resourceExhausted:
      // Without a retry delay, the session itself exceeds a limit.
      let delays = try? error.unpackGoogleRPCStatus()?.details.compactMap(\.retryInfo?.delay)
      self = (delays?.first).map { .exhausted(retryAfter: $0) } ?? .permanent
    case .failedPrecondition:
      // Without its token the session would escape the override.
      let reasons = try? error.unpackGoogleRPCStatus()?.details.compactMap(\.errorInfo?.reason)
      self = reasons?.contains("OVERRIDE_INVALID") == true ? .permanent : .precondition
    default: self = .permanent
    }
  }
}
