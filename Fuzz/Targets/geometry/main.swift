import FuzzDriver
import SidelightKernels
import SidelightWire

// Compares an image's description with its bytes: an accepted image must
// be within its bytes, plane by plane, and planes must not overlap. The target computes the planes
// again, without overflow.

let limits = FrameLimits(maxDimension: 16_384, maxPixels: 1 << 16)

/// Reads successive numbers of an input; 0 after its end.
struct NumberReader {
  var bytes: ArraySlice<UInt8>

  mutating func next(_ count: Int) -> UInt64 {
    defer { self.bytes = self.bytes.dropFirst(count) }
    return self.bytes.prefix(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// Returns the bytes of a plane: its start, and the end of its last row.
func extent(_ plane: Int, _ layout: PlaneLayout, of frame: Frame) -> (start: Int128, end: Int128) {
  let rows = frame.format.rowCount(plane: plane, height: frame.size.height)
  let row = frame.format.rowByteCount(plane: plane, width: frame.size.width)
  precondition(layout.stride >= row, "rows of a plane overlap")
  let start = Int128(layout.offset)
  return (start, start + Int128(rows - 1) * Int128(layout.stride) + Int128(row))
}

fuzz { input in
  var reader = NumberReader(bytes: input.withUnsafeBytes { [UInt8]($0) }[...])
  var image = Sidelight_V1_Image()
  image.format = Sidelight_V1_PixelFormat(rawValue: Int(reader.next(1))) ?? .unspecified
  image.width = UInt32(reader.next(4))
  image.height = UInt32(reader.next(4))
  image.color.range = .init(rawValue: Int(reader.next(1))) ?? .unspecified
  image.color.matrix = .init(rawValue: Int(reader.next(1))) ?? .unspecified
  image.color.alpha = .init(rawValue: Int(reader.next(1))) ?? .unspecified
  image.orientation.rotation = .init(rawValue: Int(reader.next(1))) ?? .unspecified
  let available = Int(reader.next(2))
  for _ in 0 ..< reader.next(1) % 6 {
    var plane = Sidelight_V1_Plane()
    plane.offset = UInt32(reader.next(4))
    plane.stride = UInt32(reader.next(4))
    image.planes.append(plane)
  }
  let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: available, alignment: 64)
  memory.initializeMemory(as: UInt8.self, repeating: 1)
  let pixels = PixelBuffer(borrowing: memory) { $0.deallocate() }
  guard let frame = try? image.frame(over: pixels, limits: limits) else { return }
  precondition(frame.size.width == Int(image.width) && frame.size.height == Int(image.height))
  precondition(frame.size.pixelCount <= limits.maxPixels, "the picture exceeds the limits")
  precondition(frame.layout.byteCount <= available, "the frame exceeds its bytes")
  let extents = frame.layout.planes.enumerated()
    .map { extent($0.offset, $0.element, of: frame) }
    .sorted { $0.start < $1.start }
  for (one, next) in zip(extents, extents.dropFirst()) {
    precondition(one.end <= next.start, "planes overlap")
  }
  precondition(extents.allSatisfy { $0.start >= 0 && $0.end <= Int128(available) })
  if image.planes.isEmpty {
    precondition(frame.layout.byteCount == available, "bytes are unused")
  }
  // Reads all samples; the sanitizer reports any access beyond them.
  precondition(frame.packedBytes().allSatisfy { $0 == 1 }, "a sample has another value")
}
