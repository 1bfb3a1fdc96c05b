extension RingLayout {
  /// Which way a slot's pixels go.
  package enum Way: Sendable, Hashable {
    /// From the client to the server.
    case input
    /// From the server to the client.
    case output
  }

  /// The indices of one way's slots.
  package func indices(of way: Way) -> Range<Int> {
    switch way {
    case .input: 0 ..< self.inputSlots
    case .output: self.inputSlots ..< self.slotCount
    }
  }

  /// Checks a descriptor that the other side sent, whatever it says.
  ///
  /// - Parameters:
  ///   - reference: As it came.
  ///   - ways: Those that its slot may go.
  /// - Returns: The slot, and the bytes of it that are meant.
  /// - Throws: ``FieldFault`` whose field is relative to the image.
  package func check(
    _ reference: Sidelight_V1_SharedMemorySlot, _ ways: Way...
  ) throws(FieldFault) -> (slot: Int, byteCount: Int) {
    guard let slot = Int(exactly: reference.slot), (0 ..< self.slotCount).contains(slot) else {
      throw FieldFault(
        field: "shared_memory.slot",
        reason: "is \(reference.slot), the ring has \(self.slotCount) slots")
    }
    guard ways.contains(where: { self.indices(of: $0).contains(slot) }) else {
      throw FieldFault(
        field: "shared_memory.slot",
        reason: "is \(slot), a slot of the other direction; input slots are "
          + "0 to \(self.inputSlots - 1), output slots \(self.inputSlots) to \(self.slotCount - 1)")
    }
    guard let byteCount = Int(exactly: reference.length), byteCount <= self.slotBytes else {
      throw FieldFault(
        field: "shared_memory.length",
        reason: "is \(reference.length), a slot has \(self.slotBytes) bytes")
    }
    return (slot, byteCount)
  }
}
