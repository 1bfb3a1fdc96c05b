import Foundation

/// Small text files that people write.
enum TextFile {
  /// The maximum size in bytes.
  static let maxBytes = 1 << 20

  /// Returns the contents of a file.
  ///
  /// - Throws: ``TextFileError`` if the file cannot be read, is too large, is not UTF-8, or is a
  ///   pipe or device, which would be empty on a reload.
  static func contents(of path: String) throws(TextFileError) -> String {
    // Opening a pipe without a writer must not block.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw TextFileError(errno: errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw TextFileError(errno: errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw TextFileError(reason: "is not a regular file")
    }
    var bytes = [UInt8](repeating: 0, count: Self.maxBytes + 1)
    var count = 0
    while count < bytes.count {
      let taken = bytes.withUnsafeMutableBytes {
        read(descriptor, $0.baseAddress.map { $0 + count }, $0.count - count)
      }
      if taken < 0, errno == EINTR { continue }
      guard taken >= 0 else { throw TextFileError(errno: errno) }
      if taken == 0 { break }
      count += taken
    }
    guard count <= Self.maxBytes else {
      throw TextFileError(reason: "is larger than the limit of \(Self.maxBytes >> 20) MiB")
    }
    guard let text = String(validating: bytes[..<count], as: UTF8.self) else {
      throw TextFileError(reason: "is not UTF-8")
    }
    return text
  }
}

/// The reason why a file cannot be read.
struct TextFileError: Error, Sendable, Hashable {
  /// A clause with the file as its subject: `is not UTF-8`.
  let reason: String

  init(reason: String) {
    self.reason = reason
  }

  /// Creates the error of a failed system call.
  init(errno: Int32) {
    self.reason = "cannot be read: \(String(cString: strerror(errno)))"
  }
}
