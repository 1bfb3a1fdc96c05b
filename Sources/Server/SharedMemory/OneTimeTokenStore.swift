package import SidelightTransport

/// The tokens that give clients the rings of their sessions. A pure state machine; the time is a
/// parameter.
///
/// A token is valid once, for a while, for the session that it was issued to, while that session
/// lasts. Any use removes it.
package struct OneTimeTokenStore<Ring: Sendable>: Sendable {
  private struct Entry {
    var token: [UInt8]
    var sessionID: String
    var ring: Ring
    var end: Duration
  }

  private var entries: [Entry] = []

  package init() {}

  /// The number of unused tokens.
  package var count: Int { self.entries.count }

  /// Issues a token for a ring.
  ///
  /// - Parameters:
  ///   - token: Random bytes, ``DescriptorHello/tokenBytes`` long.
  ///   - end: The time at which the token expires.
  package mutating func issue(
    _ token: [UInt8], for ring: Ring, of sessionID: String, now: Duration, until end: Duration
  ) {
    self.forgetExpired(now)
    self.entries.append(Entry(token: token, sessionID: sessionID, ring: ring, end: end))
  }

  /// Redeems a token.
  ///
  /// - Returns: The ring; `nil` if the token is invalid for that session.
  package mutating func redeem(_ hello: DescriptorHello, now: Duration) -> Ring? {
    self.forgetExpired(now)
    // All tokens are compared to the last byte, so that the time it takes reveals nothing.
    var found: Int?
    for (index, entry) in self.entries.enumerated()
    where Self.areEqual(entry.token, hello.token) {
      found = index
    }
    guard let found else { return nil }
    let entry = self.entries.remove(at: found)
    return entry.sessionID == hello.sessionID ? entry.ring : nil
  }

  /// Revokes the unused token of a session that has ended.
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
