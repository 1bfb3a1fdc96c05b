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
  var bytesTaken: Int { self.budget.bytesTaken }

  /// Sets the path of the descriptor socket; `nil` grants no rings.
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
      throw Self.fault(.failedPrecondition, "\(peer) is not on this host")
    }
    guard let path = self.socketPath.withLock({ $0 }) else {
      throw Self.fault(.unavailable, "the descriptor socket is closed")
    }
    try self.budget.take(layout.byteCount)
    let memory: OwnedDescriptor
    let ring: SharedMemoryRing
    do throws(SharedMemoryError) {
      memory = try SharedMemoryRing.makeMemory(layout)
      ring = try SharedMemoryRing(mapping: memory, layout) { [budget] in
        budget.giveBack(layout.byteCount)
      }
    } catch {
      self.budget.giveBack(layout.byteCount)
      throw Self.fault(.unavailable, "\(error)")
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

  /// Redeems the token of a request on the descriptor socket.
  ///
  /// - Returns: The ring's memory; `nil` if the token is invalid.
  func redeem(_ hello: DescriptorHello) -> OwnedDescriptor? {
    let now = self.clock.now()
    return self.tokens.withLock { $0.redeem(hello, now: now) }
  }

  /// Revokes the token of a session that has ended.
  func revoke(_ sessionID: String) {
    self.tokens.withLock { $0.revoke(sessionID) }
  }

  private static func fault(_ code: RPCError.Code, _ reason: String) -> FieldViolation {
    FieldViolation(code: code, field: "open.shared_memory", reason: reason)
  }
}

extension Engine {
  /// Grants a ring to a session.
  ///
  /// - Throws: ``FieldViolation``, as ``SharedMemoryBroker/grant(_:to:peer:)`` does; UNIMPLEMENTED if
  ///   this server has no shared memory.
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

/// The memory that the rings of a server may take. A ring gives its memory back when it is
/// unmapped: after its session, when the last frame in a slot is gone.
final class RingBudget: Sendable {
  private let maxSessionBytes: Int
  private let maxBytes: Int
  private let taken = Mutex(0)

  init(maxSessionBytes: Int, maxBytes: Int) {
    self.maxSessionBytes = maxSessionBytes
    self.maxBytes = maxBytes
  }

  /// The bytes of the mapped rings.
  var bytesTaken: Int { self.taken.withLock { $0 } }

  /// Takes the memory of a ring that is about to be mapped.
  ///
  /// - Throws: ``FieldViolation``, RESOURCE_EXHAUSTED, beyond a limit.
  func take(_ byteCount: Int) throws(FieldViolation) {
    guard byteCount <= self.maxSessionBytes else {
      throw Self.fault("it would have \(byteCount) bytes, the limit is \(self.maxSessionBytes)")
    }
    let rest = self.taken.withLock { taken in
      let rest = self.maxBytes - taken
      if byteCount <= rest { taken += byteCount }
      return rest
    }
    guard byteCount <= rest else {
      throw Self.fault(
        "it would have \(byteCount) bytes, of the \(self.maxBytes) for all sessions \(rest) are left"
      )
    }
  }

  /// Gives back the memory of a ring that was unmapped.
  func giveBack(_ byteCount: Int) {
    self.taken.withLock { $0 -= byteCount }
  }

  private static func fault(_ reason: String) -> FieldViolation {
    FieldViolation(code: .resourceExhausted, field: "open.shared_memory", reason: reason)
  }
}
