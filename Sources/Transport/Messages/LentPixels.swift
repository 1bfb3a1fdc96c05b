@_spi(CustomByteBufferAllocator) import NIOCore
import Foundation
import SidelightKernels
import Synchronization

/// Pixels in mapped memory that byte buffers refer to, without a copy, until the transport has sent
/// them.
///
/// A `ByteBuffer` releases memory with a C function, which cannot hold its owner.
enum LentPixels {
  private static let owners = Mutex<[UInt: [PixelBuffer]]>([:])

  /// Returns the bytes as a buffer of the transport, which retains the pixels.
  ///
  /// - Precondition: The pixels are not empty.
  static func buffer(of pixels: PixelBuffer) -> ByteBuffer {
    let address = UInt(bitPattern: pixels.bytes.baseAddress)
    self.owners.withLock { $0[address, default: []].append(pixels) }
    return ByteBuffer(takingOwnershipOf: pixels.bytes, allocator: self.allocator)
  }

  /// Buffers of the transport are only read; a copy that is written gets memory of its own.
  private static let allocator = ByteBufferAllocator(
    allocate: { malloc($0) },
    reallocate: { bytes, oldSize, newSize in
      let copy = malloc(newSize)
      if let bytes, let copy { memcpy(copy, bytes, min(oldSize, newSize)) }
      if let bytes { LentPixels.release(bytes) }
      return copy
    },
    deallocate: { LentPixels.release($0) },
    copy: { target, source, count in memcpy(target, source, count) })

  private static func release(_ bytes: UnsafeMutableRawPointer) {
    let address = UInt(bitPattern: bytes)
    let (isLent, owner) = self.owners.withLock { owners -> (Bool, PixelBuffer?) in
      guard let owner = owners[address]?.popLast() else { return (false, nil) }
      if owners[address]?.isEmpty == true { owners[address] = nil }
      return (true, owner)
    }
    if !isLent { free(bytes) }
    withExtendedLifetime(owner) {}
  }
}
