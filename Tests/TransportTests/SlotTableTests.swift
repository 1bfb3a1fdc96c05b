import SidelightTransport
import SidelightWire
import Testing

@Suite struct SlotTableTests {
  private var ledger = SlotTable(inputSlots: 2, outputSlots: 2)

  private mutating func reserve() throws -> SlotTable.Reservation {
    let reservation = self.ledger.reserveOutput()
    return try #require(reservation)
  }

  @Test("An input slot is the server's from the frame that names it to that frame's fate")
  mutating func inputSlot() {
    #expect(self.ledger.take(input: 0, for: 7) == nil)
    #expect(self.ledger.take(input: 0, for: 8) == 7)
    #expect(self.ledger.take(input: 1, for: 8) == nil)
    self.ledger.giveBack(inputOf: 7)
    #expect(self.ledger.take(input: 0, for: 9) == nil)
    #expect(self.ledger.take(input: 1, for: 9) == 8)
  }

  @Test("A fate that is decided twice gives back once")
  mutating func lateFate() {
    #expect(self.ledger.take(input: 0, for: 7) == nil)
    self.ledger.giveBack(inputOf: 7)
    #expect(self.ledger.take(input: 0, for: 8) == nil)
    self.ledger.giveBack(inputOf: 7)
    #expect(self.ledger.take(input: 0, for: 9) == 8)
  }

  @Test("An output slot is the client's from its outcome to the acknowledgement")
  mutating func outputSlot() throws {
    let first = try self.reserve()
    let second = try self.reserve()
    #expect(self.ledger.reserveOutput() == nil)
    self.ledger.handOver(first, sequence: 10)
    self.ledger.release(first)
    #expect(self.ledger.reserveOutput() == nil)
    self.ledger.acknowledge(9)
    #expect(self.ledger.reserveOutput() == nil)
    self.ledger.acknowledge(10)
    #expect(self.ledger.reserveOutput()?.index == first.index)
    #expect(second.index != first.index)
  }

  @Test("An acknowledgement covers all before it, and nothing that was not handed over")
  mutating func cumulative() throws {
    let slots = [try self.reserve(), try self.reserve()]
    self.ledger.handOver(slots[0], sequence: 3)
    self.ledger.acknowledge(.max)
    #expect(self.ledger.outputsHeld == 1)
    self.ledger.handOver(slots[1], sequence: 4)
    self.ledger.acknowledge(4)
    #expect(self.ledger.outputsHeld == 0)
  }

  @Test("A picture that does not go out leaves its slot free")
  mutating func displaced() throws {
    let slot = try self.reserve()
    self.ledger.release(slot)
    #expect(self.ledger.outputsHeld == 0)
  }

  @Test("The previous owner of a slot cannot free it under the next, nor hand it over")
  mutating func staleReservation() throws {
    let first = try self.reserve()
    self.ledger.handOver(first, sequence: 1)
    self.ledger.acknowledge(1)
    let second = try self.reserve()
    #expect(second.index == first.index)
    self.ledger.release(first)
    self.ledger.handOver(first, sequence: 2)
    self.ledger.acknowledge(2)
    #expect(self.ledger.outputsHeld == 1)
    self.ledger.handOver(second, sequence: 3)
    self.ledger.acknowledge(2)
    #expect(self.ledger.outputsHeld == 1)
  }

  @Test("The slot that was free last is written next, so that few pages are touched")
  mutating func reuse() throws {
    for sequence: UInt64 in 1 ... 10 {
      let slot = try self.reserve()
      #expect(slot.index == 0)
      self.ledger.handOver(slot, sequence: sequence)
      self.ledger.acknowledge(sequence)
    }
  }
}
