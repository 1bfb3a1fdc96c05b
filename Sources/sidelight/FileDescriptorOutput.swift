#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Writes to a file descriptor, unbuffered and whole.
struct FileDescriptorOutput: Sendable {
  let descriptor: Int32

  static let standardOutput = FileDescriptorOutput(descriptor: STDOUT_FILENO)
  static let standardError = FileDescriptorOutput(descriptor: STDERR_FILENO)

  /// Whether a person looks at it.
  var isTerminal: Bool { isatty(self.descriptor) == 1 }

  /// Writes text for a person; if nobody can read it any more, that is no fault.
  func write(_ text: String) {
    var text = text
    text.withUTF8 { bytes in try? self.write(UnsafeRawBufferPointer(bytes)) }
  }

  /// - Throws: ``POSIXFailure``.
  func write(_ bytes: UnsafeRawBufferPointer) throws(POSIXFailure) {
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
        guard errno == EINTR else { throw POSIXFailure(call: "write", code: errno) }
        continue
      }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }
}

/// A system call that failed.
struct POSIXFailure: Error, CustomStringConvertible {
  let call: String
  let code: Int32

  /// What the system says of the code: `No such file or directory`.
  var reason: String { String(cString: strerror(self.code)) }

  var description: String { "\(self.call): \(self.reason)" }
}
