/// The owners of a ring's slots, as the server sees them. A pure state machine.
///
/// An input slot belongs to the client, to the server when a frame names the slot, and to the
/// client again when that frame's outcome is decided. An output slot is free, is written by the
/// server, belongs to the client when an outcome names the slot, and is free again when the client
/// acknowledges the outcome; or directly after it was written, if the picture is not sent.
package struct SlotTable: Sendable {
  private enum Output: Hashable {
    case free
    /// The slot is being written, under this number.
    case written(UInt64)
    /// The outcome of this frame named the slot.
    case client(sequence: UInt64)
  }

  /// An output slot to write.
  package struct Reservation: Sendable, Hashable {
    /// The slot, counted from the first output slot.
    package let index: Int
    /// The unique number of the reservation, which prevents an old reservation from freeing the
    /// slot of a newer one.
    let number: UInt64
  }

  /// The arrival numbers of the frames in the input slots; `nil` for slots that the client owns.
  private var inputs: [UInt64?]
  private var outputs: [Output]
  private var nextNumber: UInt64 = 0

  package init(inputSlots: Int, outputSlots: Int) {
    self.inputs = Array(repeating: nil, count: inputSlots)
    self.outputs = Array(repeating: .free, count: outputSlots)
  }

  // MARK: Input slots

  /// Records that a frame names an input slot, which belongs to the server from now on.
  ///
  /// - Parameter arrival: The frame's number in the order of arrival.
  /// - Returns: The frame that already has the slot; `nil` if the slot belonged to the client.
  package mutating func take(input index: Int, for arrival: UInt64) -> UInt64? {
    if let holder = self.inputs[index] { return holder }
    self.inputs[index] = arrival
    return nil
  }

  /// Records that a frame's outcome is decided. Its slot, if it has one, belongs to the client from
  /// the outcome on.
  package mutating func release(inputOf arrival: UInt64) {
    guard let index = self.inputs.firstIndex(of: arrival) else { return }
    self.inputs[index] = nil
  }

  // MARK: Output slots

  /// Reserves the first free output slot, whose pages are most likely to exist already. Returns
  /// `nil` if all slots are in use.
  package mutating func reserveOutput() -> Reservation? {
    guard let index = self.outputs.firstIndex(of: .free) else { return nil }
    defer { self.nextNumber += 1 }
    self.outputs[index] = .written(self.nextNumber)
    return Reservation(index: index, number: self.nextNumber)
  }

  /// Records that the server no longer references the slot. It is free unless it belongs to the
  /// client.
  package mutating func release(_ reservation: Reservation) {
    guard self.outputs[reservation.index] == .written(reservation.number) else { return }
    self.outputs[reservation.index] = .free
  }

  /// Records that a frame's outcome is about to name the slot.
  package mutating func transfer(_ reservation: Reservation, sequence: UInt64) {
    guard self.outputs[reservation.index] == .written(reservation.number) else { return }
    self.outputs[reservation.index] = .client(sequence: sequence)
  }

  /// Frees the slots of a picture and of all before it, except slots that the client still reads.
  /// Numbers that were never sent are ignored.
  ///
  /// - Parameter held: The slots that it reads, counted from the first output slot.
  package mutating func acknowledge(_ sequence: UInt64, except held: Set<Int> = []) {
    for (index, output) in self.outputs.enumerated() where !held.contains(index) {
      if case .client(let sent) = output, sent <= sequence { self.outputs[index] = .free }
    }
  }

  /// The number of output slots that are not free.
  package var outputsHeld: Int { self.outputs.count { $0 != .free } }
}
