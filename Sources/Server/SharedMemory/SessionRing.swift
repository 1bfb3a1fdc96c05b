import SidelightKernels
import SidelightTransport
import SidelightWire
import Synchronization

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
