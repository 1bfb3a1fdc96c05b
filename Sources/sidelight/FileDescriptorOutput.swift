#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Unbuffered output to a file descriptor.
struct FileDescriptorOutput: Sendable {
  let descriptor: Int32

  static let standardOutput = FileDescriptorOutput(descriptor: STDOUT_FILENO)
  static let standardError = FileDescriptorOutput(descriptor: STDERR_FILENO)

  /// Whether the output is a terminal.
  var isTerminal: Bool { isatty(self.descriptor) == 1 }

  /// Writes text, and ignores failures, such as a closed pipe.
  func write(_ text: String) {
    var text = text
    text.withUTF8 { bytes in try? self.write(UnsafeRawBufferPointer(bytes)) }
  }

  /// Writes all bytes.
  ///
  /// - Throws: ``POSIXCallError``.
  func write(_ bytes: UnsafeRawBufferPointer) throws(POSIXCallError) {
    var rest = bytes
    while !rest.isEmpty {
      #if canImport(Darwin)
        let count = Darwin.write(self.descriptor, rest.baseAddress, rest.count)
      #elseif canImport(Musl)
        let count = Musl.write(self.descriptor, rest.baseAddress, rest.count)
      #else
        let count = Glibc.write(self.descriptor, rest.baseAddress, rest.count)
      #endif
      if count < 0 {
        guard errno == EINTR else { throw POSIXCallError(call: "write", code: errno) }
        continue
      }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }
}

/// A failed system call.
struct POSIXCallError: Error, CustomStringConvertible {
  let call: String
  let code: Int32

  /// The system's description of the code: `No such file or directory`.
  var reason: String { String(cString: strerror(self.code)) }

  var description: String { "\(self.call): \(self.reason)" }
}
