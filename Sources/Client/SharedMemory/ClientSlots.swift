/// The owners of a ring's slots, as the client sees them. A pure state machine.
///
/// An input slot is free when neither a frame in flight nor a picture of the client uses it. An
/// output slot belongs to the client from the outcome that names it, and is held while a picture of
/// the client uses it.
package struct ClientSlots: Sendable {
  private struct Input {
    /// Whether a picture of the client uses the slot.
    var isLent = false
    /// The frame in flight that names the slot.
    var sequence: UInt64?
  }

  private var inputs: [Input]
  /// The slots whose pictures are still referenced, with their frames.
  private var outputs: [Int: UInt64] = [:]
  private let hasWindow: Bool
  /// The newest picture that may be acknowledged.
  private var newest: UInt64 = 0
  /// Whether a slot was released since the last acknowledgement.
  private var hasAcknowledgement = false

  /// - Parameter hasWindow: Whether pictures are acknowledged when their outcomes are taken;
  ///   otherwise they are acknowledged on arrival.
  package init(inputSlots: Int, hasWindow: Bool) {
    self.inputs = Array(repeating: Input(), count: inputSlots)
    self.hasWindow = hasWindow
  }

  // MARK: Input slots

  /// Lends a slot for a picture until ``release(input:)``: the first free one, to use few slots.
  /// Returns `nil` if all are in use.
  package mutating func lend() -> Int? {
    guard let index = self.inputs.firstIndex(where: { !$0.isLent && $0.sequence == nil }) else {
      return nil
    }
    self.inputs[index].isLent = true
    return index
  }

  /// Records that pictures of the client don't use the slot any more.
  package mutating func release(input index: Int) {
    self.inputs[index].isLent = false
  }

  /// Records that a frame is about to name the slot.
  ///
  /// - Returns: Whether it may; `false` if a frame in flight names the slot.
  package mutating func send(input index: Int, as sequence: UInt64) -> Bool {
    guard self.inputs[index].sequence == nil else { return false }
    self.inputs[index].sequence = sequence
    return true
  }

  /// Records that frames have their outcomes. Their slots belong to the client again.
  package mutating func release(inputsOf sequences: ClosedRange<UInt64>) {
    for index in self.inputs.indices {
      if let sequence = self.inputs[index].sequence, sequences.contains(sequence) {
        self.inputs[index].sequence = nil
      }
    }
  }

  // MARK: Output slots

  /// Records that a picture arrived in an output slot.
  package mutating func receive(output slot: Int, of sequence: UInt64) {
    self.outputs[slot] = sequence
    if !self.hasWindow { self.newest = max(self.newest, sequence) }
  }

  /// Records that the picture is not referenced any more.
  package mutating func release(output slot: Int, of sequence: UInt64) {
    guard self.outputs[slot] == sequence else { return }
    self.outputs[slot] = nil
    self.hasAcknowledgement = true
  }

  /// An acknowledgement of a picture and all before it, except the slots that are still held.
  package struct Acknowledgement: Sendable, Hashable {
    package var sequence: UInt64
    /// The slots that are still held, in ascending order.
    package var held: [Int]

    package init(sequence: UInt64, held: [Int]) {
      self.sequence = sequence
      self.held = held
    }
  }

  /// Returns the acknowledgement that the server needs before it writes another picture, or `nil`
  /// if the server has it already.
  package mutating func takeAcknowledgement() -> Acknowledgement? {
    self.hasAcknowledgement && self.newest > 0 ? self.acknowledge(self.newest) : nil
  }

  /// Acknowledges a picture and all before it, except pictures that are still referenced.
  package mutating func acknowledge(_ sequence: UInt64) -> Acknowledgement {
    self.newest = max(self.newest, sequence)
    self.hasAcknowledgement = false
    return Acknowledgement(
      sequence: self.newest,
      held: self.outputs.filter { $0.value <= self.newest }.keys.sorted())
  }
}
