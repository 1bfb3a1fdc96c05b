import CSharedMemory
package import SidelightKernels

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Slots of memory that a server and one of its clients both map.
///
/// The memory can neither shrink nor grow, so whatever the other process does, reading and writing a
/// slot is safe; what is read is what the other side last wrote. Who may read or write which slot is
/// for ``SlotLedger`` to say.
///
/// The mapping ends when nobody refers to the ring any more: neither its session nor a buffer of one
/// of its slots.
package final class SharedMemoryRing: @unchecked Sendable {  // one side at a time writes a slot
  /// How the memory is divided.
  package let layout: RingLayout
  private let base: UnsafeMutableRawPointer
  private let unmapped: @Sendable () -> Void

  /// Whether this system shares memory like this: Linux does.
  package static var isSupported: Bool { csm_is_available() != 0 }

  /// Makes the memory of a ring: zeroed, of a size that nobody can change any more.
  ///
  /// - Throws: ``SharedMemoryError`` if the system does not give it.
  package static func makeMemory(_ layout: RingLayout) throws(SharedMemoryError) -> OwnedDescriptor
  {
    let descriptor = csm_create(layout.byteCount)
    guard descriptor >= 0 else {
      throw SharedMemoryError("making \(layout.byteCount) bytes of memory", code: -descriptor)
    }
    return OwnedDescriptor(descriptor)
  }

  /// Maps a ring's memory, once it is found to be what ``makeMemory(_:)`` makes. The descriptor is not
  /// needed any more then.
  ///
  /// - Parameter unmapped: Called once the memory is not mapped any more, on any thread.
  /// - Throws: ``SharedMemoryError`` if it is anything else, or cannot be mapped. `unmapped` is then
  ///   not called.
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

  /// The slot that memory begins in; `nil` if it is none of this ring's.
  package func slot(of memory: PixelBuffer) -> Int? {
    guard let start = memory.start else { return nil }
    let offset = UnsafeRawPointer(self.base).distance(to: start)
    return (0 ..< self.layout.byteCount).contains(offset) ? offset / self.layout.slotBytes : nil
  }

  /// The first bytes of a slot, as memory for a frame. The mapping lasts as long as the buffer.
  ///
  /// - Parameter release: Called when no frame refers to the buffer any more, on any thread.
  /// - Precondition: The slot exists and has as many bytes.
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
