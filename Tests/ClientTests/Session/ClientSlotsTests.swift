import SidelightClient
import Testing

@Suite struct ClientSlotsTests {
  private var slots = ClientSlots(inputSlots: 2, hasWindow: false)

  private mutating func lend() throws -> Int {
    let slot = self.slots.lend()
    return try #require(slot)
  }

  private mutating func expectSending(_ slot: Int, as sequence: UInt64, _ isAllowed: Bool) {
    let isSent = self.slots.send(input: slot, as: sequence)
    #expect(isSent == isAllowed)
  }

  @Test
  mutating func
    `an input slot is free again when its frame has an outcome and its picture is unused`() throws
  {
    let slot = try self.lend()
    let isSent = self.slots.send(input: slot, as: 5)
    #expect(isSent)
    self.slots.release(input: slot)
    let other = try self.lend()
    #expect(other != slot)
    #expect(self.slots.lend() == nil)
    self.slots.release(inputsOf: 4 ... 5)
    #expect(self.slots.lend() == slot)
  }

  @Test
  mutating func `a picture that is still looked at keeps its slot after the outcome`() throws {
    let slot = try self.lend()
    let isSent = self.slots.send(input: slot, as: 5)
    self.slots.release(inputsOf: 5 ... 5)
    let next = try self.lend()
    #expect(isSent && next != slot)
    // It may be sent again meanwhile.
    self.expectSending(slot, as: 6, true)
    self.slots.release(input: slot)
    self.slots.release(inputsOf: 6 ... 9)
    #expect(self.slots.lend() == slot)
  }

  @Test mutating func `a slot is not named twice while its frame is in flight`() throws {
    let slot = try self.lend()
    self.expectSending(slot, as: 1, true)
    self.expectSending(slot, as: 2, false)
    self.slots.release(inputsOf: 2 ... 2)
    self.expectSending(slot, as: 3, false)
  }

  @Test
  mutating func `pictures that are no longer used are reported, except those that are held`() {
    #expect(self.slots.takeAcknowledgement() == nil)
    for sequence: UInt64 in 1 ... 3 {
      self.slots.receive(output: Int(sequence) + 1, of: sequence)
    }
    #expect(self.slots.takeAcknowledgement() == nil)
    self.slots.release(output: 3, of: 2)
    #expect(self.slots.takeAcknowledgement() == .init(sequence: 3, held: [2, 4]))
    #expect(self.slots.takeAcknowledgement() == nil)
    self.slots.release(output: 4, of: 3)
    self.slots.release(output: 2, of: 1)
    #expect(self.slots.takeAcknowledgement() == .init(sequence: 3, held: []))
  }

  @Test
  mutating func `where outcomes are acknowledged as they are taken, nothing is reported earlier`() {
    self.slots = ClientSlots(inputSlots: 1, hasWindow: true)
    self.slots.receive(output: 1, of: 1)
    self.slots.receive(output: 2, of: 2)
    self.slots.release(output: 1, of: 1)
    #expect(self.slots.takeAcknowledgement() == nil)
    #expect(self.slots.acknowledge(1) == .init(sequence: 1, held: []))
    #expect(self.slots.acknowledge(2) == .init(sequence: 2, held: [2]))
    self.slots.release(output: 2, of: 2)
    #expect(self.slots.takeAcknowledgement() == .init(sequence: 2, held: []))
  }

  @Test
  mutating func
    `a slot that the server reuses is not released by the previous owner of its picture`()
  {
    self.slots.receive(output: 2, of: 1)
    self.slots.receive(output: 2, of: 2)
    self.slots.release(output: 2, of: 1)
    self.slots.release(output: 3, of: 1)
    #expect(self.slots.acknowledge(2) == .init(sequence: 2, held: [2]))
  }
}
