import SidelightKernels
import SidelightTransport
import SidelightWire
import Synchronization

/// The ring of one session, and whose its slots are.
final class SessionRing: Sendable {
  private let ring: SharedMemoryRing
  private let ledger: Mutex<SlotTable>

  init(_ ring: SharedMemoryRing) {
    self.ring = ring
    self.ledger = Mutex(
      SlotTable(inputSlots: ring.layout.inputSlots, outputSlots: ring.layout.outputSlots))
  }

  /// How the memory is divided.
  var layout: RingLayout { self.ring.layout }

  // MARK: Input slots

  /// The bytes that an image says it has in a slot, if it can have them; else 0.
  func byteCount(of image: Sidelight_V1_Image) -> Int {
    guard case .sharedMemory(let reference)? = image.pixels else { return 0 }
    return (try? self.layout.check(reference, .input))?.byteCount ?? 0
  }

  /// A frame names an input slot, which is the server's from now on, until ``giveBack(inputOf:)``.
  ///
  /// The client can still write to the slot, against the protocol: the bytes may change at any
  /// time.
  ///
  /// - Parameter arrival: The frame's place in the order of arrival.
  /// - Returns: The bytes that the reference names.
  /// - Throws: ``FieldViolation`` whose field is relative to the image.
  func take(
    _ reference: Sidelight_V1_SharedMemorySlot, for arrival: UInt64
  ) throws(FieldViolation) -> PixelBuffer {
    let (slot, byteCount) = try self.layout.check(reference, .input)
    guard self.ledger.withLock({ $0.take(input: slot, for: arrival) }) == nil else {
      throw FieldViolation(
        field: "shared_memory.slot",
        reason: "is \(slot), which belongs to a frame that has no outcome yet")
    }
    return self.ring.buffer(slot: slot, byteCount: byteCount)
  }

  /// Records that a frame's outcome is decided. Its slot, if it has one, belongs to the client from
  /// the outcome on.
  func giveBack(inputOf arrival: UInt64) {
    self.ledger.withLock { $0.release(inputOf: arrival) }
  }

  // MARK: Output slots

  /// A slot that a picture is written to.
  struct Output: Sendable {
    /// The slot's index on the wire.
    let slot: Int
    /// The memory to write to.
    let memory: PixelBuffer
    fileprivate let reservation: SlotTable.Reservation
  }

  /// Reserves a slot for a picture; returns `nil` if none is free or the picture is too large. A
  /// slot that is not handed over is free again when its memory is no longer referenced.
  func makeOutput(byteCount: Int) -> Output? {
    guard byteCount <= self.layout.slotBytes,
      let reservation = self.ledger.withLock({ $0.reserveOutput() })
    else { return nil }
    let slot = self.layout.inputSlots + reservation.index
    let memory = self.ring.buffer(slot: slot, byteCount: byteCount) {
      self.ledger.withLock { $0.release(reservation) }
    }
    return Output(slot: slot, memory: memory, reservation: reservation)
  }

  /// Records that a frame's outcome is about to name the slot, which belongs to the client until
  /// the client acknowledges the outcome.
  func handOver(_ output: Output, sequence: UInt64) {
    self.ledger.withLock { $0.transfer(output.reservation, sequence: sequence) }
  }

  /// Frees the slots of pictures that the client has consumed. Invalid slot numbers are ignored.
  func acknowledge(_ ack: Sidelight_V1_Ack) {
    let held = Set(ack.heldSlots.map { Int($0) - self.layout.inputSlots })
    self.ledger.withLock { $0.acknowledge(ack.sequence, except: held) }
  }
}
