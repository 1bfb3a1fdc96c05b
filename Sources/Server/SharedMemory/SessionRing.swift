import SidelightKernels
import SidelightWire
import Synchronization

/// The ring of one session, and whose its slots are.
final class SessionRing: Sendable {
  private let ring: SharedMemoryRing
  private let ledger: Mutex<SlotLedger>

  init(_ ring: SharedMemoryRing) {
    self.ring = ring
    self.ledger = Mutex(
      SlotLedger(inputSlots: ring.layout.inputSlots, outputSlots: ring.layout.outputSlots))
  }

  /// How the memory is divided.
  var layout: RingLayout { self.ring.layout }

  // MARK: Input slots

  /// A frame names an input slot, which is the server's from now on, until ``giveBack(inputOf:)``.
  ///
  /// The client can write it all the same, whatever was agreed: what is read may change at any time.
  ///
  /// - Parameter arrival: The frame's place in the order of arrival.
  /// - Returns: The bytes that are meant.
  /// - Throws: ``FieldFault`` whose field is relative to the image.
  func take(
    _ reference: Sidelight_V1_SharedMemorySlot, for arrival: UInt64
  ) throws(FieldFault) -> PixelBuffer {
    let (slot, byteCount) = try self.layout.check(reference, .input)
    guard self.ledger.withLock({ $0.take(input: slot, for: arrival) }) == nil else {
      throw FieldFault(
        field: "shared_memory.slot",
        reason: "is \(slot), which belongs to a frame that has no outcome yet")
    }
    return self.ring.buffer(slot: slot, byteCount: byteCount)
  }

  /// A frame's fate is decided: its slot, if it has one, is the client's as soon as it is told.
  func giveBack(inputOf arrival: UInt64) {
    self.ledger.withLock { $0.giveBack(inputOf: arrival) }
  }

  // MARK: Output slots

  /// A slot that a picture is written to.
  struct Output: Sendable {
    /// How clients know it.
    let slot: Int
    fileprivate let reservation: SlotLedger.Reservation
  }

  /// A slot for a picture, and its memory; `nil` if none is free or it is too small. Unless it is
  /// handed over, it is free again when nobody refers to the memory any more.
  func makeOutput(byteCount: Int) -> (output: Output, memory: PixelBuffer)? {
    guard byteCount <= self.layout.slotBytes,
      let reservation = self.ledger.withLock({ $0.reserveOutput() })
    else { return nil }
    let slot = self.layout.inputSlots + reservation.index
    let memory = self.ring.buffer(slot: slot, byteCount: byteCount) { [weak self] in
      self?.ledger.withLock { $0.release(reservation) }
    }
    return (Output(slot: slot, reservation: reservation), memory)
  }

  /// A slot is about to be named in a frame's outcome: it is the client's until that is acknowledged.
  func handOver(_ output: Output, sequence: UInt64) {
    self.ledger.withLock { $0.handOver(output.reservation, sequence: sequence) }
  }

  /// The client has consumed the picture of that number, and all before it.
  func acknowledge(_ sequence: UInt64) {
    self.ledger.withLock { $0.acknowledge(sequence) }
  }
}
