import SidelightTransport
import SidelightWire
import Testing

@Suite struct SlotTableTests {
  private var table = SlotTable(inputSlots: 2, outputSlots: 2)

  private mutating func reserve() throws -> SlotTable.Reservation {
    let reservation = self.table.reserveOutput()
    return try #require(reservation)
  }

  @Test
  mutating func
    `an input slot is the server's from the frame that names it to that frame's outcome`()
  {
    #expect(self.table.take(input: 0, for: 7) == nil)
    #expect(self.table.take(input: 0, for: 8) == 7)
    #expect(self.table.take(input: 1, for: 8) == nil)
    self.table.release(inputOf: 7)
    #expect(self.table.take(input: 0, for: 9) == nil)
    #expect(self.table.take(input: 1, for: 9) == 8)
  }

  @Test mutating func `an outcome that is decided twice releases its slot once`() {
    #expect(self.table.take(input: 0, for: 7) == nil)
    self.table.release(inputOf: 7)
    #expect(self.table.take(input: 0, for: 8) == nil)
    self.table.release(inputOf: 7)
    #expect(self.table.take(input: 0, for: 9) == 8)
  }

  @Test
  mutating func `an output slot is the client's from its outcome to the acknowledgement`() throws {
    let first = try self.reserve()
    let second = try self.reserve()
    #expect(self.table.reserveOutput() == nil)
    self.table.transfer(first, sequence: 10)
    self.table.release(first)
    #expect(self.table.reserveOutput() == nil)
    self.table.acknowledge(9)
    #expect(self.table.reserveOutput() == nil)
    self.table.acknowledge(10)
    #expect(self.table.reserveOutput()?.index == first.index)
    #expect(second.index != first.index)
  }

  @Test
  mutating func `an acknowledgement covers all before it, and nothing that was not handed over`()
    throws
  {
    let slots = [try self.reserve(), try self.reserve()]
    self.table.transfer(slots[0], sequence: 3)
    self.table.acknowledge(.max)
    #expect(self.table.outputsHeld == 1)
    self.table.transfer(slots[1], sequence: 4)
    self.table.acknowledge(4)
    #expect(self.table.outputsHeld == 0)
  }

  @Test mutating func `a picture that does not go out leaves its slot free`() throws {
    let slot = try self.reserve()
    self.table.release(slot)
    #expect(self.table.outputsHeld == 0)
  }

  @Test
  mutating func `the previous owner of a slot cannot free it under the next, nor hand it over`()
    throws
  {
    let first = try self.reserve()
    self.table.transfer(first, sequence: 1)
    self.table.acknowledge(1)
    let second = try self.reserve()
    #expect(second.index == first.index)
    self.table.release(first)
    self.table.transfer(first, sequence: 2)
    self.table.acknowledge(2)
    #expect(self.table.outputsHeld == 1)
    self.table.transfer(second, sequence: 3)
    self.table.acknowledge(2)
    #expect(self.table.outputsHeld == 1)
  }

  @Test
  mutating func `the slot that was free last is written next, so that few pages are touched`()
    throws
  {
    for sequence: UInt64 in 1 ... 10 {
      let slot = try self.reserve()
      #expect(slot.index == 0)
      self.table.transfer(slot, sequence: sequence)
      self.table.acknowledge(sequence)
    }
  }
}
