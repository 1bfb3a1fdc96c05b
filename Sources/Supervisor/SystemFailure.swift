#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A failed system call.
struct SystemCallError: Error, Hashable, CustomStringConvertible {
  let call: String
  /// The `errno`.
  let code: Int32

  var description: String { "\(self.call): \(String(cString: strerror(self.code)))" }
}
