import SidelightWire
import SwiftProtobuf
import Testing

@Suite struct RingLayoutTests {
  static func layout(
    _ slotBytes: UInt64 = 1 << 16, _ inputs: UInt32 = 3, _ outputs: UInt32 = 2
  ) throws -> RingLayout {
    try RingLayout(
      Sidelight_V1_SharedMemoryRequest.with {
        $0.slotBytes = slotBytes
        $0.inputSlots = inputs
        $0.outputSlots = outputs
      })
  }

  static func reference(_ slot: UInt32, _ length: UInt64) -> Sidelight_V1_SharedMemorySlot {
    .with {
      $0.slot = slot
      $0.length = length
    }
  }

  @Test func `values left out of a request are filled in`() throws {
    let layout = try Self.layout(0, 0, 0)
    #expect(layout.slotBytes == 8 << 20)
    #expect(layout.inputSlots == 6)
    #expect(layout.outputSlots == 6)
  }

  @Test func `slots are rounded up to whole pages`() throws {
    #expect(try Self.layout(1).slotBytes == RingLayout.pageBytes)
    let pages = try Self.layout(1920 * 1080 * 4).slotBytes
    #expect(pages >= 1920 * 1080 * 4 && pages.isMultiple(of: RingLayout.pageBytes))
  }

  @Test(
    arguments: [
      (UInt64.max, UInt32(1), UInt32(1), "slot_bytes"),
      (UInt64(RingLayout.maxSlotBytes) + 1, 1, 1, "slot_bytes"),
      (4096, 65, 1, "input_slots"), (4096, .max, 1, "input_slots"),
      (4096, 1, 65, "output_slots"), (4096, 1, .max, "output_slots"),
    ])
  func `an invalid ring is refused by its invalid field`(
    _ slotBytes: UInt64, _ inputs: UInt32, _ outputs: UInt32, _ field: String
  ) throws {
    let violation = try #require(throws: FieldViolation.self) {
      try Self.layout(slotBytes, inputs, outputs)
    }
    #expect(violation.field == field)
  }

  @Test(
    arguments: [
      (UInt64(0), UInt32(1), UInt32(1), "slot_bytes"), (4095, 1, 1, "slot_bytes"),
      (.max, 1, 1, "slot_bytes"), (4096, 0, 1, "input_slots"), (4096, 1, 0, "output_slots"),
      (4096, 1 << 31, 1, "input_slots"),
    ])
  func `an offer that no server makes is refused by the client`(
    _ slotBytes: UInt64, _ inputs: UInt32, _ outputs: UInt32, _ field: String
  ) throws {
    let violation = try #require(throws: FieldViolation.self) {
      try RingLayout(
        Sidelight_V1_SharedMemoryOffer.with {
          $0.slotBytes = slotBytes
          $0.inputSlots = inputs
          $0.outputSlots = outputs
        })
    }
    #expect(violation.field == field)
  }

  @Test func `a descriptor within its slot is what it says`() throws {
    let layout = try Self.layout()
    #expect(try layout.check(Self.reference(0, 0), .input) == (0, 0))
    #expect(try layout.check(Self.reference(2, 1 << 16), .input) == (2, 1 << 16))
    #expect(try layout.check(Self.reference(4, 5), .output) == (4, 5))
    #expect(try layout.check(Self.reference(4, 5), .input, .output) == (4, 5))
  }

  @Test(
    arguments: [
      (UInt32(5), UInt64(0), RingLayout.Direction.input, "shared_memory.slot"),
      (5, 0, .output, "shared_memory.slot"), (.max, 0, .input, "shared_memory.slot"),
      (3, 0, .input, "shared_memory.slot"), (2, 0, .output, "shared_memory.slot"),
      (0, 65537, .input, "shared_memory.length"), (0, .max, .input, "shared_memory.length"),
      (0, 1 << 63, .input, "shared_memory.length"), (4, 1 << 32, .output, "shared_memory.length"),
    ])
  func `a descriptor that is out of range, overflows, or goes the other way is refused`(
    _ slot: UInt32, _ length: UInt64, _ direction: RingLayout.Direction, _ field: String
  ) throws {
    let layout = try Self.layout()
    let violation = try #require(throws: FieldViolation.self) {
      try layout.check(Self.reference(slot, length), direction)
    }
    #expect(violation.field == field)
  }
}
