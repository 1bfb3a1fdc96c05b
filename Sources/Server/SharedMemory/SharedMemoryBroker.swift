import Foundation
import GRPCCore
import SidelightTransport
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
