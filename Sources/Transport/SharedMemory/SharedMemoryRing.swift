import CSharedMemory
import Foundation
package import SidelightKernels
package import SidelightWire

/// Slots of memory that a server and one of its clients both map.
///
/// The memory can neither shrink nor grow, which keeps reading and writing a slot safe regardless
/// of the other process; a read returns the last write of the other side. ``SlotTable`` says which
/// side may read or write a slot.
///
/// The mapping ends with the last reference to the ring, which a session or a buffer in one of its
/// slots holds.
package final class SharedMemoryRing: @unchecked Sendable {  // one side at a time writes a slot
  /// The division of the memory into slots.
  package let layout: RingLayout
  private let base: UnsafeMutableRawPointer
  private let unmapped: @Sendable () -> Void

  /// Whether this system shares memory in this way: Linux does.
  package static var isSupported: Bool { csm_is_available() != 0 }

  /// Creates a ring's memory: zeroed, and sealed to prevent changes of its size.
  ///
  /// - Throws: ``SharedMemoryError`` if the system cannot provide the memory.
  package static func makeMemory(_ layout: RingLayout) throws(SharedMemoryError) -> OwnedDescriptor
  {
    let descriptor = csm_create(layout.byteCount)
    guard descriptor >= 0 else {
      throw SharedMemoryError("making \(layout.byteCount) bytes of memory", code: -descriptor)
    }
    return OwnedDescriptor(descriptor)
  }

  /// Maps a ring's memory, after a check that it is memory of ``makeMemory(_:)``. The descriptor is
  /// not needed after that.
  ///
  /// - Parameter unmapped: Called when the memory is unmapped, on any thread.
  /// - Throws: ``SharedMemoryError`` if it is not such memory, or cannot be mapped. `unmapped` is
  ///   then not called.
  package init(
    mapping memory: OwnedDescriptor, _ layout: RingLayout,
    unmapped: @escaping @Sendable () -> Void = {}
  ) throws(SharedMemoryError) {
    let check = csm_check(memory.number, layout.byteCount)
    guard check == 0 else {
      throw SharedMemoryError("finding \(layout.byteCount) bytes of sealed memory", code: -check)
    }
    guard let base = csm_map(memory.number, layout.byteCount) else {
      throw SharedMemoryError("mapping \(layout.byteCount) bytes", code: errno)
    }
    self.layout = layout
    self.base = base
    self.unmapped = unmapped
  }

  deinit {
    csm_unmap(self.base, self.layout.byteCount)
    self.unmapped()
  }

  /// Returns the slot in which memory begins; `nil` if it is not in this ring.
  package func slot(of memory: PixelBuffer) -> Int? {
    guard let start = UnsafeRawPointer(memory.bytes.baseAddress) else { return nil }
    let offset = UnsafeRawPointer(self.base).distance(to: start)
    return (0 ..< self.layout.byteCount).contains(offset) ? offset / self.layout.slotBytes : nil
  }

  /// Returns the first bytes of a slot, as memory for a frame. The mapping lasts as long as the
  /// buffer.
  ///
  /// - Parameter release: Called when the last frame has released the buffer, on any thread.
  /// - Precondition: The slot exists and has at least `byteCount` bytes.
  package func buffer(
    slot: Int, byteCount: Int, release: @escaping @Sendable () -> Void = {}
  ) -> PixelBuffer {
    precondition((0 ..< self.layout.slotCount).contains(slot), "no such slot")
    precondition((0 ... self.layout.slotBytes).contains(byteCount), "more bytes than the slot has")
    let bytes = UnsafeMutableRawBufferPointer(
      start: self.base + slot * self.layout.slotBytes, count: byteCount)
    return PixelBuffer(borrowing: bytes) { _ in
      withExtendedLifetime(self) { release() }
    }
  }
}

/// The failure of a system call that shares memory.
package struct SharedMemoryError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The attempted action.
  package var action: String
  /// The error number of the system.
  package var code: CInt

  package init(_ action: String, code: CInt) {
    self.action = action
    self.code = code
  }

  /// The action and the system's reason.
  package var description: String {
    "\(self.action): \(String(cString: strerror(self.code)))"
  }
}

/// A file descriptor that is closed with the last reference to it.
package final class OwnedDescriptor: Sendable {
  /// The descriptor's number.
  package let number: CInt

  /// Takes the ownership of an open descriptor.
  package init(_ number: CInt) {
    self.number = number
  }

  deinit {
    close(self.number)
  }
}
