import SidelightKernels
import SidelightTransport
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

  /// The bytes that an image says it has in a slot, if it can have them; else 0.
  func byteCount(of image: Sidelight_V1_Image) -> Int {
    guard case .sharedMemory(let reference)? = image.pixels else { return 0 }
    return (try? self.layout.check(reference, .input))?.byteCount ?? 0
  }

  /// A frame names an input slot, which is the server's from now on, until ``giveBack(inputOf:)``.
  ///
  /// The client can write it all the same, whatever was agreed: what is read may change at any
  /// time.
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
    /// Where to write.
    let memory: PixelBuffer
    fileprivate let reservation: SlotLedger.Reservation
  }

  /// A slot for a picture; `nil` if none is free or it is too small. Unless it is
  /// handed over, it is free again when nobody refers to the memory any more.
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

  /// A slot is about to be named in a frame's outcome: it is the client's until that is
  /// acknowledged.
  func handOver(_ output: Output, sequence: UInt64) {
    self.ledger.withLock { $0.handOver(output.reservation, sequence: sequence) }
  }

  /// The client has consumed pictures. Slots that are none do no harm.
  func acknowledge(_ ack: Sidelight_V1_Ack) {
    let held = Set(ack.heldSlots.map { Int($0) - self.layout.inputSlots })
    self.ledger.withLock { $0.acknowledge(ack.sequence, except: held) }
  }
}
