import SidelightKernels

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Memory between two pages that are not mapped: a read or write of a byte beyond it traps.
enum GuardedMemory {
  /// The end of the memory that is next to an unmapped page.
  enum Flush: CaseIterable {
    case start
    case end
  }

  /// A buffer of exactly that many bytes; freed with the last frame that uses it.
  static func buffer(byteCount: Int, flush: Flush) -> PixelBuffer {
    let page = Int(sysconf(Int32(_SC_PAGESIZE)))
    let room = (byteCount + page - 1) / page * page
    let whole = unsafe mmap(
      nil, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let whole = unsafe whole, unsafe whole != MAP_FAILED,
      unsafe mprotect(whole + page, room, PROT_READ | PROT_WRITE) == 0
    else { fatalError("the system has no memory") }
    let start = unsafe whole + page + (flush == .start ? 0 : room - byteCount)
    let address = UInt(bitPattern: whole)
    return unsafe PixelBuffer(
      borrowing: UnsafeMutableRawBufferPointer(start: start, count: byteCount)
    ) { _ in
      unsafe _ = munmap(UnsafeMutableRawPointer(bitPattern: address), room + 2 * page)
    }
  }

  /// A packed copy of a frame, next to an unmapped page.
  static func copy(_ frame: Frame, flush: Flush) throws -> Frame {
    let layout = try FrameLayout(packed: frame.format, size: frame.size)
    return frame.copied(
      to: Self.buffer(byteCount: layout.byteCount, flush: flush), layout: layout)
  }
}
