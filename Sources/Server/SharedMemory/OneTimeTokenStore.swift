package import SidelightTransport

/// The tokens that clients exchange for the rings of their sessions. A pure state machine; the time
/// is a parameter.
///
/// A token is valid once, until it expires or the session that it was issued to ends. Any use
/// removes it.
package struct OneTimeTokenStore<Ring: Sendable>: Sendable {
  private struct Entry {
    var token: [UInt8]
    var sessionID: String
    var ring: Ring
    var expires: Duration
  }

  private var entries: [Entry] = []

  package init() {}

  /// The number of unused tokens.
  package var count: Int { self.entries.count }

  /// Issues a token for a ring.
  ///
  /// - Parameters:
  ///   - token: Random bytes, ``DescriptorHello/tokenBytes`` long.
  ///   - expires: The time at which the token expires.
  package mutating func issue(
    _ token: [UInt8], for ring: Ring, of sessionID: String, now: Duration, until expires: Duration
  ) {
    self.removeExpired(now)
    self.entries.append(Entry(token: token, sessionID: sessionID, ring: ring, expires: expires))
  }

  /// Removes a token, and returns its ring.
  ///
  /// - Returns: The ring, or `nil` if the token is invalid for that session.
  package mutating func take(_ hello: DescriptorHello, now: Duration) -> Ring? {
    self.removeExpired(now)
    // Compares all bytes of all tokens, which keeps the duration from revealing their contents.
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

  private mutating func removeExpired(_ now: Duration) {
    self.entries.removeAll { now >= $0.expires }
  }

  private static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    guard one.count == other.count else { return false }
    return zip(one, other).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
