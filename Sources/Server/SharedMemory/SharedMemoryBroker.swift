import Foundation
import GRPCCore
package import SidelightTransport
import SidelightWire
import SwiftProtobuf
import Synchronization

/// Grants rings to sessions, and returns their memory for one-time tokens.
final class SharedMemoryBroker: Sendable {
  private let configuration: SharedMemoryConfiguration
  private let clock: SessionClock
  private let budget: RingBudget
  private let tokens = Mutex(OneTimeTokenStore<OwnedDescriptor>())
  private let socketPath = Mutex<String?>(nil)

  init(_ configuration: SharedMemoryConfiguration, clock: SessionClock) {
    self.configuration = configuration
    self.clock = clock
    self.budget = RingBudget(
      maxSessionBytes: configuration.maxSessionBytes, maxBytes: configuration.maxBytes)
  }

  /// The bytes of the mapped rings.
  var bytesReserved: Int { self.budget.bytesReserved }

  /// Sets the path of the descriptor socket; `nil` disables rings.
  func setSocketPath(_ path: String?) {
    self.socketPath.withLock { $0 = path }
  }

  /// A ring, and the offer that a session sends to its client.
  struct Grant: Sendable {
    let ring: SessionRing
    let offer: Sidelight_V1_SharedMemoryOffer
  }

  /// Grants a ring to a session.
  ///
  /// - Parameter peer: The session's peer, as gRPC names it.
  /// - Throws: ``FieldViolation``: FAILED_PRECONDITION if the peer is on another host,
  ///   RESOURCE_EXHAUSTED beyond a limit; UNAVAILABLE without a descriptor socket or memory.
  func grant(
    _ layout: RingLayout, to sessionID: String, peer: String
  ) throws(FieldViolation) -> Grant {
    guard Caller(peer: peer).isLocal else {
      throw Self.violation(.failedPrecondition, "\(peer) is not on this host")
    }
    guard let path = self.socketPath.withLock({ $0 }) else {
      throw Self.violation(.unavailable, "the descriptor socket is closed")
    }
    try self.budget.reserve(layout.byteCount)
    let memory: OwnedDescriptor
    let ring: SharedMemoryRing
    do throws(SharedMemoryError) {
      memory = try SharedMemoryRing.makeMemory(layout)
      ring = try SharedMemoryRing(mapping: memory, layout) { [budget] in
        budget.release(layout.byteCount)
      }
    } catch {
      self.budget.release(layout.byteCount)
      throw Self.violation(.unavailable, "\(error)")
    }
    var random = SystemRandomNumberGenerator()
    let token = (0 ..< DescriptorHello.tokenBytes).map { _ in
      UInt8.random(in: .min ... .max, using: &random)
    }
    let now = self.clock.now()
    self.tokens.withLock {
      $0.issue(
        token, for: memory, of: sessionID, now: now, until: now + self.configuration.tokenLifetime)
    }
    return Grant(
      ring: SessionRing(ring),
      offer: .with {
        $0.socketPath = path
        $0.token = Data(token)
        $0.inputSlots = UInt32(layout.inputSlots)
        $0.outputSlots = UInt32(layout.outputSlots)
        $0.slotBytes = UInt64(layout.slotBytes)
      })
  }

  /// Returns the ring for the token of a request on the descriptor socket, and removes the token.
  ///
  /// - Returns: The ring's memory, or `nil` if the token is invalid.
  func take(_ hello: DescriptorHello) -> OwnedDescriptor? {
    let now = self.clock.now()
    return self.tokens.withLock { $0.take(hello, now: now) }
  }

  /// Revokes the token of a session that has ended.
  func revoke(_ sessionID: String) {
    self.tokens.withLock { $0.revoke(sessionID) }
  }

  private static func violation(_ code: RPCError.Code, _ reason: String) -> FieldViolation {
    FieldViolation(code: code, field: "open.shared_memory", reason: reason)
  }
}

extension Engine {
  /// Grants a ring to a session.
  ///
  /// - Throws: ``FieldViolation``, as ``SharedMemoryBroker/grant(_:to:peer:)`` does; UNIMPLEMENTED
  ///   if this server doesn't use shared memory.
  func grantRing(
    _ layout: RingLayout, to sessionID: String, peer: String
  ) throws(FieldViolation) -> SharedMemoryBroker.Grant {
    guard let rings = self.rings else {
      throw FieldViolation(
        code: .unimplemented, field: "open.shared_memory",
        reason: "this server does not offer it; see features in GetServerInfo")
    }
    return try rings.grant(layout, to: sessionID, peer: peer)
  }
}

/// Bounds the memory of all rings of a server. A ring's memory is released when it is unmapped:
/// after its session, and after the last frame in a slot.
final class RingBudget: Sendable {
  private let maxSessionBytes: Int
  private let maxBytes: Int
  private let reserved = Mutex(0)

  init(maxSessionBytes: Int, maxBytes: Int) {
    self.maxSessionBytes = maxSessionBytes
    self.maxBytes = maxBytes
  }

  /// The bytes of the mapped rings.
  var bytesReserved: Int { self.reserved.withLock { $0 } }

  /// Reserves the memory of a ring that is about to be mapped, until ``release(_:)``.
  ///
  /// - Throws: ``FieldViolation``, RESOURCE_EXHAUSTED, beyond a limit.
  func reserve(_ byteCount: Int) throws(FieldViolation) {
    guard byteCount <= self.maxSessionBytes else {
      throw Self.violation("it would have \(byteCount) bytes, the limit is \(self.maxSessionBytes)")
    }
    let available = self.reserved.withLock { reserved in
      let available = self.maxBytes - reserved
      if byteCount <= available { reserved += byteCount }
      return available
    }
    guard byteCount <= available else {
      throw Self.violation(
        "it would have \(byteCount) bytes, of the \(self.maxBytes) for all sessions "
          + "\(available) are left"
      )
    }
  }

  /// Releases the memory of an unmapped ring.
  func release(_ byteCount: Int) {
    self.reserved.withLock { $0 -= byteCount }
  }

  private static func violation(_ reason: String) -> FieldViolation {
    FieldViolation(code: .resourceExhausted, field: "open.shared_memory", reason: reason)
  }
}

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
