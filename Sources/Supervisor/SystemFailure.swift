#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A system call that failed.
struct SystemFailure: Error, Hashable, CustomStringConvertible {
  let call: String
  /// Its `errno`.
  let code: Int32

  var description: String { "\(self.call): \(String(cString: strerror(self.code)))" }
}
