import SidelightWire

/// Knows which tokens are good for which session's ring. A pure state machine; time is handed in.
///
/// A token is good once, for a while, for the session that it was issued to, while that stands. Shown
/// once, it is spent, whatever came of it.
package struct TokenDesk<Ring: Sendable>: Sendable {
  private struct Entry {
    var token: [UInt8]
    var sessionID: String
    var ring: Ring
    var end: Duration
  }

  private var entries: [Entry] = []

  package init() {}

  /// Tokens that could still be shown.
  package var count: Int { self.entries.count }

  /// A ring waits to be fetched.
  ///
  /// - Parameters:
  ///   - token: Random, ``CompanionHello/tokenBytes`` long.
  ///   - end: When it is good no more.
  package mutating func issue(
    _ token: [UInt8], for ring: Ring, of sessionID: String, now: Duration, until end: Duration
  ) {
    self.forgetExpired(now)
    self.entries.append(Entry(token: token, sessionID: sessionID, ring: ring, end: end))
  }

  /// Somebody shows a token.
  ///
  /// - Returns: The ring; `nil` if the token is not good for that session.
  package mutating func redeem(_ hello: CompanionHello, now: Duration) -> Ring? {
    self.forgetExpired(now)
    // All are compared to the last byte, so that the time it takes says nothing.
    var found: Int?
    for (index, entry) in self.entries.enumerated()
    where Self.areEqual(entry.token, hello.token) {
      found = index
    }
    guard let found else { return nil }
    let entry = self.entries.remove(at: found)
    return entry.sessionID == hello.sessionID ? entry.ring : nil
  }

  /// A session is over: its token, if it was not shown, is good no more.
  package mutating func revoke(_ sessionID: String) {
    self.entries.removeAll { $0.sessionID == sessionID }
  }

  private mutating func forgetExpired(_ now: Duration) {
    self.entries.removeAll { now >= $0.end }
  }

  private static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    guard one.count == other.count else { return false }
    return zip(one, other).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
