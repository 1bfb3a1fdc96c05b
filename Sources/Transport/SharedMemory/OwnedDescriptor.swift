#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A file descriptor that is closed when nobody refers to it any more.
package final class OwnedDescriptor: Sendable {
  /// The system's number for it.
  package let number: CInt

  /// Takes over a descriptor that is open.
  package init(_ number: CInt) {
    self.number = number
  }

  deinit {
    close(self.number)
  }
}
