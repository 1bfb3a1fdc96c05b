import Foundation
import GRPCCore
import SidelightWire
import SwiftProtobuf
import Synchronization

/// Grants rings to sessions, and hands them out against their tokens.
final class RingDesk: Sendable {
  private let configuration: SharedMemoryConfiguration
  private let clock: SessionClock
  private let allowance: RingAllowance
  private let tokens = Mutex(TokenDesk<OwnedDescriptor>())
  private let socketPath = Mutex<String?>(nil)

  init(_ configuration: SharedMemoryConfiguration, clock: SessionClock) {
    self.configuration = configuration
    self.clock = clock
    self.allowance = RingAllowance(
      maxSessionBytes: configuration.maxSessionBytes, maxBytes: configuration.maxBytes)
  }

  /// Bytes of the rings that are mapped.
  var bytesTaken: Int { self.allowance.bytesTaken }

  /// The companion socket listens there; `nil`: it does not, and no ring is granted.
  func setSocketPath(_ path: String?) {
    self.socketPath.withLock { $0 = path }
  }

  /// What a session gets that asks for a ring.
  struct Grant: Sendable {
    let ring: SessionRing
    let offer: Sidelight_V1_SharedMemoryOffer
  }

  /// Grants a session the ring that it asks for.
  ///
  /// - Parameter peer: Who asks, as gRPC names it.
  /// - Throws: ``FieldFault``: FAILED_PRECONDITION if the peer is on another host, RESOURCE_EXHAUSTED
  ///   beyond a limit; UNAVAILABLE if nobody would hand it out, or the system has no memory.
  func grant(
    _ layout: RingLayout, to sessionID: String, peer: String
  ) throws(FieldFault) -> Grant {
    guard Caller(peer: peer).isLocal else {
      throw Self.fault(.failedPrecondition, "\(peer) is not on this host")
    }
    guard let path = self.socketPath.withLock({ $0 }) else {
      throw Self.fault(.unavailable, "the companion socket is closed")
    }
    try self.allowance.take(layout.byteCount)
    let memory: OwnedDescriptor
    let ring: SharedMemoryRing
    do throws(SharedMemoryError) {
      memory = try SharedMemoryRing.makeMemory(layout)
      ring = try SharedMemoryRing(mapping: memory, layout) { [allowance] in
        allowance.giveBack(layout.byteCount)
      }
    } catch {
      self.allowance.giveBack(layout.byteCount)
      throw Self.fault(.unavailable, "\(error)")
    }
    var random = SystemRandomNumberGenerator()
    let token = (0 ..< CompanionHello.tokenBytes).map { _ in
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

  /// Somebody shows a token.
  ///
  /// - Returns: The ring's memory; `nil` if the token is not good.
  func redeem(_ hello: CompanionHello) -> OwnedDescriptor? {
    let now = self.clock.now()
    return self.tokens.withLock { $0.redeem(hello, now: now) }
  }

  /// A session is over.
  func revoke(_ sessionID: String) {
    self.tokens.withLock { $0.revoke(sessionID) }
  }

  private static func fault(_ code: RPCError.Code, _ reason: String) -> FieldFault {
    FieldFault(code: code, field: "open.shared_memory", reason: reason)
  }
}

extension Engine {
  /// Grants a session the ring that it asks for.
  ///
  /// - Throws: ``FieldFault``, as ``RingDesk/grant(_:to:peer:)`` does; UNIMPLEMENTED if this server
  ///   offers none.
  func grantRing(
    _ layout: RingLayout, to sessionID: String, peer: String
  ) throws(FieldFault) -> RingDesk.Grant {
    guard let rings = self.rings else {
      throw FieldFault(
        code: .unimplemented, field: "open.shared_memory",
        reason: "this server does not offer it; see features in GetServerInfo")
    }
    return try rings.grant(layout, to: sessionID, peer: peer)
  }
}
