import Synchronization

/// The access to a studio: a one-time token, which a browser exchanges for a session.
///
/// Tokens and sessions are 128 random bits. They are compared in constant time.
final class StudioAccess: Sendable {
  /// The maximum number of open sessions. A further session ends the oldest one.
  private static let maxSessions = 64

  private struct State {
    var token = StudioAccess.makeSecret()
    /// In the order in which they began.
    var sessions: [String] = []
  }

  private let state = Mutex(State())

  /// The current token, which has not been used.
  var token: String { self.state.withLock(\.token) }

  /// Exchanges a token for a session, and replaces the token.
  ///
  /// - Returns: The secret of the session; `nil` if the token is not the current one.
  func redeem(_ token: String) -> String? {
    self.state.withLock { state in
      guard Self.areEqual(token, state.token) else { return nil }
      state.token = Self.makeSecret()
      let session = Self.makeSecret()
      if state.sessions.count >= Self.maxSessions { state.sessions.removeFirst() }
      state.sessions.append(session)
      return session
    }
  }

  /// Whether a session with that secret is open.
  func isOpen(_ session: String) -> Bool {
    self.state.withLock { state in
      state.sessions.reduce(false) { Self.areEqual($1, session) || $0 }
    }
  }

  private static func makeSecret() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0 ..< 2).map { _ in
      let digits = String(UInt64.random(in: 0 ... .max, using: &generator), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// Compares two texts in a time that depends only on their lengths.
  static func areEqual(_ one: String, _ other: String) -> Bool {
    let (one, other) = (Array(one.utf8), Array(other.utf8))
    guard one.count == other.count else { return false }
    return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
