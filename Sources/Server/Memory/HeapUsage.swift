#if canImport(CMalloc)
  import CMalloc
  import Glibc
#endif

/// What the process holds of the system's memory, and how much of it the program uses.
package struct HeapUsage: Sendable, Hashable {
  /// Bytes in memory that are no file's: heaps, used and free, and what is beside them (stacks, pages
  /// of pictures' own).
  package var residentBytes: Int
  /// Bytes that the program has of the C allocator, in memory or not.
  package var usedBytes: Int

  /// States both.
  package init(residentBytes: Int, usedBytes: Int) {
    self.residentBytes = residentBytes
    self.usedBytes = usedBytes
  }

  /// Reads both; `nil` where there is no glibc. Takes the heaps' locks for the time that their free
  /// pieces take to count: two milliseconds for ten thousand.
  package static func current() -> HeapUsage? {
    #if canImport(CMalloc)
      // Pages in all, of them in memory, of those a file's.
      let pages = Self.contents(of: "/proc/self/statm").split(separator: " ").map { Int($0) ?? 0 }
      guard pages.count > 2 else { return nil }
      return HeapUsage(
        residentBytes: (pages[1] - pages[2]) * sysconf(Int32(_SC_PAGESIZE)),
        usedBytes: Int(cmalloc_used_bytes()))
    #else
      return nil
    #endif
  }

  #if canImport(CMalloc)
    /// The first line of a file of the kernel's; nothing if it cannot be read.
    private static func contents(of path: String) -> String {
      let descriptor = open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return "" }
      defer { close(descriptor) }
      return String(unsafeUninitializedCapacity: 256) {
        max(0, read(descriptor, $0.baseAddress, $0.count))
      }
    }
  #endif
}
