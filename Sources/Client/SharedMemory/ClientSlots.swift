/// Says whose each slot of a ring is, at the client. A pure state machine.
///
/// An input slot is free when no frame in flight came in it, and no picture here lies in it. An output
/// slot is the client's from the outcome that names it; it is held while a picture here lies in it.
package struct ClientSlots: Sendable {
  private struct Input {
    /// Whether memory of the slot is lent out here.
    var isLent = false
    /// The frame in flight that names the slot.
    var sequence: UInt64?
  }

  private var inputs: [Input]
  /// Slots whose pictures are still looked at, with their frames.
  private var outputs: [Int: UInt64] = [:]
  private let hasWindow: Bool
  /// The newest picture that may be acknowledged.
  private var newest: UInt64 = 0
  private var hasNews = false

  /// - Parameter hasWindow: Whether pictures are acknowledged when their outcomes are taken; else when
  ///   they have come.
  package init(inputSlots: Int, hasWindow: Bool) {
    self.inputs = Array(repeating: Input(), count: inputSlots)
    self.hasWindow = hasWindow
  }

  // MARK: Input slots

  /// A slot to write a picture in, the same as often as can be; `nil` if none is free. It is lent until
  /// ``release(input:)``.
  package mutating func lend() -> Int? {
    guard let index = self.inputs.firstIndex(where: { !$0.isLent && $0.sequence == nil }) else {
      return nil
    }
    self.inputs[index].isLent = true
    return index
  }

  /// No picture here lies in the slot any more.
  package mutating func release(input index: Int) {
    self.inputs[index].isLent = false
  }

  /// A frame is about to name the slot.
  ///
  /// - Returns: Whether it may: not if one in flight does already.
  package mutating func send(input index: Int, as sequence: UInt64) -> Bool {
    guard self.inputs[index].sequence == nil else { return false }
    self.inputs[index].sequence = sequence
    return true
  }

  /// Frames have their outcomes: their slots are the client's again.
  package mutating func giveBack(inputsOf sequences: ClosedRange<UInt64>) {
    for index in self.inputs.indices {
      if let sequence = self.inputs[index].sequence, sequences.contains(sequence) {
        self.inputs[index].sequence = nil
      }
    }
  }

  // MARK: Output slots

  /// A picture came in an output slot.
  package mutating func receive(output slot: Int, of sequence: UInt64) {
    self.outputs[slot] = sequence
    if !self.hasWindow { self.newest = max(self.newest, sequence) }
  }

  /// Nobody looks at that picture any more.
  package mutating func release(output slot: Int, of sequence: UInt64) {
    guard self.outputs[slot] == sequence else { return }
    self.outputs[slot] = nil
    self.hasNews = true
  }

  /// What is acknowledged: a picture and all before it, but for the slots that are held all the same.
  package struct Acknowledgement: Sendable, Hashable {
    package var sequence: UInt64
    /// In order.
    package var held: [Int]

    package init(sequence: UInt64, held: [Int]) {
      self.sequence = sequence
      self.held = held
    }
  }

  /// What the server should know before it makes another picture; `nil` if that is nothing new.
  package mutating func takeNews() -> Acknowledgement? {
    self.hasNews && self.newest > 0 ? self.acknowledge(self.newest) : nil
  }

  /// A picture and all before it have been consumed; those that are still looked at are held.
  package mutating func acknowledge(_ sequence: UInt64) -> Acknowledgement {
    self.newest = max(self.newest, sequence)
    self.hasNews = false
    return Acknowledgement(
      sequence: self.newest,
      held: self.outputs.filter { $0.value <= self.newest }.keys.sorted())
  }
}
