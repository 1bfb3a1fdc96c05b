import FuzzDriver
import SidelightKernels
import SidelightWire
import SwiftProtobuf

// A ring of arbitrary sizes, and an image in one of its slots: an accepted image must
// be within that slot, up to the last sample. The first 16 bytes are the sizes of the
// ring, the rest is the encoded image.

let limits = FrameLimits(maxDimension: 16_384, maxPixels: 1 << 20)
/// The largest pictures whose samples are all read.
let maxReadBytes = 1 << 20

func number(_ bytes: [UInt8], _ range: Range<Int>) -> UInt64 {
  bytes[range].reversed().reduce(0) { $0 << 8 | UInt64($1) }
}

/// Reads every row of a frame in memory of exactly the stated length; the sanitizer reports any access
/// beyond it.
func read(_ image: Sidelight_V1_Image, _ byteCount: Int) {
  let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 64)
  memory.initializeMemory(as: UInt8.self, repeating: 1)
  let pixels = PixelBuffer(borrowing: memory) { $0.deallocate() }
  guard let frame = try? image.frame(over: pixels, limits: limits) else { return }
  var sum = 0
  for plane in 0 ..< frame.format.planeCount {
    for row in 0 ..< frame.format.rowCount(plane: plane, height: frame.size.height) {
      frame.withRow(row, plane: plane) { bytes in
        bytes.withUnsafeBytes { sum += $0.reduce(0) { $0 + Int($1) } }
      }
    }
  }
  precondition(sum > 0, "a frame has no samples")
}

fuzz { input in
  let bytes = input.withUnsafeBytes { [UInt8]($0) }
  guard bytes.count >= 16 else { return }
  let request = Sidelight_V1_SharedMemoryRequest.with {
    $0.slotBytes = number(bytes, 0 ..< 8)
    $0.inputSlots = UInt32(number(bytes, 8 ..< 12))
    $0.outputSlots = UInt32(number(bytes, 12 ..< 16))
  }
  guard let layout = try? RingLayout(request) else { return }
  precondition(
    UInt64(layout.slotBytes) >= request.slotBytes, "a slot is smaller than requested")
  precondition(layout.indices(of: .output).upperBound == layout.slotCount, "slots are unused")

  guard let image = try? Sidelight_V1_Image(serializedBytes: Array(bytes[16...])), image.isInSlot
  else {
    return
  }
  for direction in [RingLayout.Direction.input, .output] {
    guard let (slot, byteCount) = try? layout.check(image.sharedMemory, direction) else { continue }
    precondition(layout.indices(of: direction).contains(slot), "the slot has the other direction")
    precondition((0 ... layout.slotBytes).contains(byteCount), "the length exceeds the slot")
    precondition((slot + 1) * layout.slotBytes <= layout.byteCount, "the slot is outside the ring")
    precondition(
      UInt64(byteCount) == image.sharedMemory.length, "the length is not the requested one")
    if byteCount <= maxReadBytes { read(image, byteCount) }
  }
}
