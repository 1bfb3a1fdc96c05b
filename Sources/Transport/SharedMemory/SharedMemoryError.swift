#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Why memory could not be shared.
package struct SharedMemoryError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What was attempted.
  package var action: String
  /// The system's reason.
  package var code: CInt

  package init(_ action: String, code: CInt) {
    self.action = action
    self.code = code
  }

  /// What was attempted, and the system's reason.
  package var description: String {
    "\(self.action): \(String(cString: strerror(self.code)))"
  }
}
