/// The owner of each slot of a ring, as the server sees it. A pure state machine.
///
/// Input slot: client's -> server's, when a frame names it -> client's, when that frame's fate is
/// decided. Output slot: free -> being written -> client's, when it is named in an outcome -> free,
/// when the client acknowledges; or from being written back to free, if the picture does not go
/// out.
package struct SlotLedger: Sendable {
  private enum Output: Hashable {
    case free
    /// Under which number it is written.
    case written(UInt64)
    /// In which frame's outcome it was named.
    case client(sequence: UInt64)
  }

  /// An output slot to write.
  package struct Reservation: Sendable, Hashable {
    /// The slot, counted from the first output slot.
    package let index: Int
    /// No two are alike, so that one which is over cannot free the slot under the next.
    let number: UInt64
  }

  /// The frame, by its arrival, that has an input slot; `nil` if it is the client's.
  private var inputs: [UInt64?]
  private var outputs: [Output]
  private var nextNumber: UInt64 = 0

  package init(inputSlots: Int, outputSlots: Int) {
    self.inputs = Array(repeating: nil, count: inputSlots)
    self.outputs = Array(repeating: .free, count: outputSlots)
  }

  // MARK: Input slots

  /// A frame names an input slot, which is the server's from now on.
  ///
  /// - Parameter arrival: The frame's place in the order of arrival.
  /// - Returns: The frame that has the slot already, if it is not the client's to give.
  package mutating func take(input index: Int, for arrival: UInt64) -> UInt64? {
    if let holder = self.inputs[index] { return holder }
    self.inputs[index] = arrival
    return nil
  }

  /// A frame's fate is decided: its slot, if it has one, is the client's as soon as it is told.
  package mutating func giveBack(inputOf arrival: UInt64) {
    guard let index = self.inputs.firstIndex(of: arrival) else { return }
    self.inputs[index] = nil
  }

  // MARK: Output slots

  /// An output slot to be written, the same as often as can be, since its pages are there already;
  /// `nil` if none is free.
  package mutating func reserveOutput() -> Reservation? {
    guard let index = self.outputs.firstIndex(of: .free) else { return nil }
    defer { self.nextNumber += 1 }
    self.outputs[index] = .written(self.nextNumber)
    return Reservation(index: index, number: self.nextNumber)
  }

  /// Nobody at the server refers to the slot any more. It is free, unless it is the client's.
  package mutating func release(_ reservation: Reservation) {
    guard self.outputs[reservation.index] == .written(reservation.number) else { return }
    self.outputs[reservation.index] = .free
  }

  /// The slot is about to be named in a frame's outcome.
  package mutating func handOver(_ reservation: Reservation, sequence: UInt64) {
    guard self.outputs[reservation.index] == .written(reservation.number) else { return }
    self.outputs[reservation.index] = .client(sequence: sequence)
  }

  /// The client has consumed the picture of that number, and all before it, but still reads some of
  /// them. Numbers that were never sent do no harm.
  ///
  /// - Parameter held: The slots that it reads, counted from the first output slot.
  package mutating func acknowledge(_ sequence: UInt64, except held: Set<Int> = []) {
    for (index, output) in self.outputs.enumerated() where !held.contains(index) {
      if case .client(let sent) = output, sent <= sequence { self.outputs[index] = .free }
    }
  }

  /// Output slots that are not free.
  package var outputsHeld: Int { self.outputs.count { $0 != .free } }
}
