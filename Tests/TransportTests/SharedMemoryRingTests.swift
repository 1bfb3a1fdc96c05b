import Foundation
import SidelightKernels
import SidelightTransport
import SidelightWire
import SwiftProtobuf
import Synchronization
import Testing

@Suite(.enabled(if: SharedMemoryRing.isSupported))
struct SharedMemoryRingTests {
  static let layout = Result { try Self.makeLayout(1 << 16, 2, 1) }
  static let size = FrameSize(width: 16, height: 16)

  static func makeLayout(
    _ slotBytes: UInt64, _ inputs: UInt32, _ outputs: UInt32
  ) throws -> RingLayout {
    try RingLayout(
      Sidelight_V1_SharedMemoryRequest.with {
        $0.slotBytes = slotBytes
        $0.inputSlots = inputs
        $0.outputSlots = outputs
      })
  }

  static func frame(_ buffer: PixelBuffer) throws -> MutableFrame {
    MutableFrame(layout: try FrameLayout(packed: .gray8, size: Self.size), buffer: buffer)
  }

  static func fill(_ buffer: PixelBuffer, with value: UInt8) throws -> Frame {
    var frame = try Self.frame(buffer)
    for row in 0 ..< Self.size.height {
      frame.withMutableRow(row) { span in
        span.withUnsafeMutableBytes { bytes in
          for index in bytes.indices { bytes[index] = value }
        }
      }
    }
    return frame.finish()
  }

  @Test
  func `bytes that one side writes in a slot, the other reads, and the slots are separate`() throws
  {
    let layout = try Self.layout.get()
    let memory = try SharedMemoryRing.makeMemory(layout)
    let server = try SharedMemoryRing(mapping: memory, layout)
    let client = try SharedMemoryRing(mapping: memory, layout)
    for slot in 0 ..< layout.slotCount {
      _ = try Self.fill(client.buffer(slot: slot, byteCount: 256), with: UInt8(10 + slot))
    }
    for slot in 0 ..< layout.slotCount {
      let frame = try Self.frame(server.buffer(slot: slot, byteCount: 256)).finish()
      let pixels = Set(frame.packedBytes())
      #expect(pixels == [UInt8(10 + slot)])
    }
  }

  @Test
  func `the memory of a ring can neither shrink nor grow, nor be sealed any further`() throws {
    let layout = try Self.layout.get()
    let memory = try SharedMemoryRing.makeMemory(layout)
    #expect(ftruncate(memory.number, 0) == -1 && errno == EPERM)
    #expect(ftruncate(memory.number, off_t(layout.byteCount) * 2) == -1 && errno == EPERM)
    _ = try SharedMemoryRing(mapping: memory, layout)
  }

  @Test(
    arguments: ["/dev/zero", "/proc/self/maps", "/tmp", "file"])
  func `a descriptor of anything else is not mapped`(_ path: String) throws {
    let layout = try Self.layout.get()
    let file = FileManager.default.temporaryDirectory.path + "/ring-\(UUID().uuidString)"
    defer { unlink(file) }
    let number =
      path == "file" ? open(file, O_RDWR | O_CREAT, 0o600) : open(path, O_RDONLY | O_CLOEXEC)
    try #require(number >= 0)
    let descriptor = OwnedDescriptor(number)
    if path == "file" { try #require(ftruncate(number, off_t(layout.byteCount)) == 0) }
    #expect(throws: SharedMemoryError.self) {
      try SharedMemoryRing(mapping: descriptor, layout)
    }
  }

  @Test func `memory of another size than was offered is not mapped`() throws {
    let memory = try SharedMemoryRing.makeMemory(try Self.makeLayout(1 << 16, 1, 1))
    #expect(throws: SharedMemoryError.self) {
      try SharedMemoryRing(mapping: memory, try Self.layout.get())
    }
  }

  @Test func `the mapping lasts until the last buffer of a slot is gone`() throws {
    let layout = try Self.layout.get()
    let isUnmapped = Atomic(false)
    let releases = Atomic(0)
    do {
      var frame: Frame?
      do {
        let ring = try SharedMemoryRing(
          mapping: try SharedMemoryRing.makeMemory(layout), layout
        ) { isUnmapped.store(true, ordering: .relaxed) }
        let buffer = ring.buffer(slot: 1, byteCount: 256) {
          releases.add(1, ordering: .relaxed)
        }
        frame = try Self.fill(buffer, with: 3)
      }
      let isGoneEarly = isUnmapped.load(ordering: .relaxed)
      #expect(!isGoneEarly)
      #expect(frame?.packedBytes().first == 3)
      frame = nil
    }
    let (count, isGone) = (releases.load(ordering: .relaxed), isUnmapped.load(ordering: .relaxed))
    #expect(count == 1)
    #expect(isGone)
  }
}
