/// The division of a ring's memory into slots of one size, the input slots first.
///
/// The initializers ensure that sums and products of the figures do not overflow.
package struct RingLayout: Sendable, Hashable {
  /// Bytes of a slot; a multiple of ``pageBytes``.
  package let slotBytes: Int
  /// Slots from the client to the server: indices `0 ..< inputSlots`.
  package let inputSlots: Int
  /// Slots from the server to the client; their indices follow.
  package let outputSlots: Int

  /// The maximum number of slots in either direction.
  package static let maxSlots = 64
  /// The largest slot: 1 GiB, more than 16384 x 16384 luma and chroma.
  package static let maxSlotBytes = 1 << 30
  /// The unit of slot sizes: the largest page size of the supported systems.
  package static let pageBytes = 65536

  package var slotCount: Int { self.inputSlots + self.outputSlots }
  /// The bytes of the whole ring.
  package var byteCount: Int { self.slotBytes * self.slotCount }

  /// Reads a client's request, with defaults for omitted fields.
  ///
  /// - Throws: ``FieldViolation`` with a field relative to the request.
  package init(_ request: Sidelight_V1_SharedMemoryRequest) throws(FieldViolation) {
    let slotBytes = request.slotBytes == 0 ? 8 << 20 : request.slotBytes
    guard slotBytes <= Self.maxSlotBytes else {
      throw FieldViolation(
        field: "slot_bytes", reason: "is \(slotBytes), the limit is \(Self.maxSlotBytes)",
        info: .outOfRange(slotBytes, limit: Self.maxSlotBytes))
    }
    try self.init(
      slotBytes: (Int(slotBytes) + Self.pageBytes - 1) / Self.pageBytes * Self.pageBytes,
      inputSlots: request.inputSlots == 0 ? 6 : request.inputSlots,
      outputSlots: request.outputSlots == 0 ? 6 : request.outputSlots)
  }

  /// Reads a server's offer.
  ///
  /// - Throws: ``FieldViolation`` with a field relative to the offer.
  package init(_ offer: Sidelight_V1_SharedMemoryOffer) throws(FieldViolation) {
    // The page size of the other host may differ; 4096 is the smallest.
    guard (1 ... UInt64(Self.maxSlotBytes)).contains(offer.slotBytes),
      offer.slotBytes.isMultiple(of: 4096)
    else {
      throw FieldViolation(
        field: "slot_bytes",
        reason: "is \(offer.slotBytes), no multiple of 4096 in 4096 ... \(Self.maxSlotBytes)")
    }
    try self.init(
      slotBytes: Int(offer.slotBytes), inputSlots: offer.inputSlots, outputSlots: offer.outputSlots)
  }

  private init(slotBytes: Int, inputSlots: UInt32, outputSlots: UInt32) throws(FieldViolation) {
    for (field, count) in [("input_slots", inputSlots), ("output_slots", outputSlots)]
    where !(1 ... UInt32(Self.maxSlots)).contains(count) {
      throw FieldViolation(
        field: field, reason: "is \(count), the range is 1 to \(Self.maxSlots)",
        info: .outOfRange(count, limit: "1 ... \(Self.maxSlots)"))
    }
    self.slotBytes = slotBytes
    self.inputSlots = Int(inputSlots)
    self.outputSlots = Int(outputSlots)
  }
}

extension RingLayout {
  /// The direction of a slot's pixels.
  package enum Direction: Sendable, Hashable {
    /// From the client to the server.
    case input
    /// From the server to the client.
    case output
  }

  /// Returns the indices of the slots of one direction.
  package func indices(of direction: Direction) -> Range<Int> {
    switch direction {
    case .input: 0 ..< self.inputSlots
    case .output: self.inputSlots ..< self.slotCount
    }
  }

  /// Validates a reference that the peer sent.
  ///
  /// - Parameters:
  ///   - reference: The reference, not yet validated.
  ///   - directions: The directions that the slot may have.
  /// - Returns: The slot, and the number of its bytes that the reference names.
  /// - Throws: ``FieldViolation`` with a field relative to the image.
  package func check(
    _ reference: Sidelight_V1_SharedMemorySlot, _ directions: Direction...
  ) throws(FieldViolation) -> (slot: Int, byteCount: Int) {
    guard let slot = Int(exactly: reference.slot), (0 ..< self.slotCount).contains(slot) else {
      throw FieldViolation(
        field: "shared_memory.slot",
        reason: "is \(reference.slot), the ring has \(self.slotCount) slots",
        info: .outOfRange(reference.slot, limit: "0 ... \(self.slotCount - 1)"))
    }
    guard directions.contains(where: { self.indices(of: $0).contains(slot) }) else {
      throw FieldViolation(
        field: "shared_memory.slot",
        reason: "is \(slot), a slot of the other direction; input slots are "
          + "0 to \(self.inputSlots - 1), output slots \(self.inputSlots) to \(self.slotCount - 1)")
    }
    guard let byteCount = Int(exactly: reference.length), byteCount <= self.slotBytes else {
      throw FieldViolation(
        field: "shared_memory.length",
        reason: "is \(reference.length), a slot has \(self.slotBytes) bytes",
        info: .outOfRange(reference.length, limit: self.slotBytes))
    }
    return (slot, byteCount)
  }
}
