import Foundation

/// Reads whole files.
enum FileContents {
  /// Returns the bytes of a file; `-` is standard input.
  ///
  /// - Throws: ``POSIXCallError`` that names the path.
  static func read(_ path: String) throws(POSIXCallError) -> [UInt8] {
    let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw POSIXCallError(call: "open \(path)", code: errno) }
    defer { if descriptor != STDIN_FILENO { close(descriptor) } }
    var bytes: [UInt8] = []
    while true {
      var code: Int32 = 0
      let chunk = [UInt8](unsafeUninitializedCapacity: 1 << 20) { buffer, count in
        let length = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
        code = length < 0 ? errno : 0
        count = max(0, length)
      }
      if code == EINTR { continue }
      guard code == 0 else { throw POSIXCallError(call: "read \(path)", code: code) }
      guard !chunk.isEmpty else { return bytes }
      bytes += chunk
    }
  }

  /// Returns whether a file begins with a text.
  ///
  /// - Throws: ``POSIXCallError`` that names the path.
  static func starts(_ path: String, with text: String) throws(POSIXCallError) -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw POSIXCallError(call: "open \(path)", code: errno) }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: text.utf8.count)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    guard count >= 0 else { throw POSIXCallError(call: "read \(path)", code: errno) }
    return bytes.elementsEqual(text.utf8)
  }
}

/// Unbuffered output to a file descriptor.
struct FileDescriptorOutput: Sendable {
  let descriptor: Int32

  static let standardOutput = FileDescriptorOutput(descriptor: STDOUT_FILENO)
  static let standardError = FileDescriptorOutput(descriptor: STDERR_FILENO)

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
      let count = Foundation.write(self.descriptor, rest.baseAddress, rest.count)
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
