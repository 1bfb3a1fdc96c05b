#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Memory of whole pages from the system, beside the heap: for what is large, lives long, and comes and
/// goes at others' wish. In the heap it would leave holes that only the like of it fills.
enum PageMemory {
  /// Takes memory, aligned to a page.
  ///
  /// - Parameter byteCount: At least 1.
  /// - Returns: Bytes that are zero. As with any other allocation, there is no going on without.
  static func allocate(byteCount: Int) -> UnsafeMutableRawBufferPointer {
    let start = unsafe mmap(
      nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let start = unsafe start, unsafe start != MAP_FAILED else {
      fatalError("the system has no \(byteCount) bytes")
    }
    return unsafe UnsafeMutableRawBufferPointer(start: start, count: byteCount)
  }

  /// Gives memory back that ``allocate(byteCount:)`` has taken.
  static func deallocate(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    _ = unsafe munmap(start, bytes.count)
  }
}
