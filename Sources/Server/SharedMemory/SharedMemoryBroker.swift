import Foundation
import GRPCCore
import SidelightKernels
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
  /// - Parameter token: Random bytes, ``DescriptorHello/tokenBytes`` long.
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

/// The ring of one session, and the owners of its slots.
final class SessionRing: Sendable {
  private let ring: SharedMemoryRing
  private let slots: Mutex<SlotTable>

  init(_ ring: SharedMemoryRing) {
    self.ring = ring
    self.slots = Mutex(
      SlotTable(inputSlots: ring.layout.inputSlots, outputSlots: ring.layout.outputSlots))
  }

  /// How the memory is divided.
  var layout: RingLayout { self.ring.layout }

  // MARK: Input slots

  /// Returns the length of an image's pixels in a slot, as the image states it, or 0 if the image
  /// doesn't name a slot, or names more bytes than a slot has.
  func byteCount(of image: Sidelight_V1_Image) -> Int {
    guard case .sharedMemory(let reference)? = image.pixels else { return 0 }
    return (try? self.layout.check(reference, .input))?.byteCount ?? 0
  }

  /// Takes the input slot that a frame names. It belongs to the server until ``release(inputOf:)``.
  ///
  /// The client can still write to the slot, against the protocol: the bytes may change at any
  /// time.
  ///
  /// - Parameter arrival: The frame's position in the order of arrival.
  /// - Returns: The referenced bytes.
  /// - Throws: ``FieldViolation`` whose field is relative to the image.
  func take(
    _ reference: Sidelight_V1_SharedMemorySlot, for arrival: UInt64
  ) throws(FieldViolation) -> PixelBuffer {
    let (slot, byteCount) = try self.layout.check(reference, .input)
    guard self.slots.withLock({ $0.take(input: slot, for: arrival) }) == nil else {
      throw FieldViolation(
        field: "shared_memory.slot",
        reason: "is \(slot), which belongs to a frame that has no outcome yet")
    }
    return self.ring.buffer(slot: slot, byteCount: byteCount)
  }

  /// Records that a frame's outcome is decided. Its slot, if any, belongs to the client from the
  /// outcome on.
  func release(inputOf arrival: UInt64) {
    self.slots.withLock { $0.release(inputOf: arrival) }
  }

  // MARK: Output slots

  /// A slot for a picture.
  struct Output: Sendable {
    /// The slot's index on the wire.
    let slot: Int
    /// The memory to write to.
    let memory: PixelBuffer
    fileprivate let reservation: SlotTable.Reservation
  }

  /// Reserves a slot for a picture; returns `nil` if all are in use or the picture is too large. A
  /// slot that is not transferred is free again when its memory is no longer referenced.
  func makeOutput(byteCount: Int) -> Output? {
    guard byteCount <= self.layout.slotBytes,
      let reservation = self.slots.withLock({ $0.reserveOutput() })
    else { return nil }
    let slot = self.layout.inputSlots + reservation.index
    let memory = self.ring.buffer(slot: slot, byteCount: byteCount) {
      self.slots.withLock { $0.release(reservation) }
    }
    return Output(slot: slot, memory: memory, reservation: reservation)
  }

  /// Records that a frame's outcome is about to name the slot, which belongs to the client until
  /// the client acknowledges the outcome.
  func transfer(_ output: Output, sequence: UInt64) {
    self.slots.withLock { $0.transfer(output.reservation, sequence: sequence) }
  }

  /// Frees the slots of pictures that the client has consumed. Invalid slot numbers are ignored.
  func acknowledge(_ ack: Sidelight_V1_Ack) {
    let held = Set(ack.heldSlots.map { Int($0) - self.layout.inputSlots })
    self.slots.withLock { $0.acknowledge(ack.sequence, except: held) }
  }
}
