import Foundation

/// Files that people write: small, and text.
enum TextFile {
  /// The largest, in bytes.
  static let maxBytes = 1 << 20

  /// What a file holds.
  ///
  /// - Throws: ``TextFileError`` if it cannot be read, is too large, or is no UTF-8; and if it is a pipe or
  ///   a device, which a reload would find empty.
  static func contents(of path: String) throws(TextFileError) -> String {
    // A pipe that nobody writes to must not be waited for.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw TextFileError(errno: errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw TextFileError(errno: errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw TextFileError(reason: "is no regular file")
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
      throw TextFileError(reason: "has more than \(Self.maxBytes >> 20) MiB, the limit")
    }
    guard let text = String(validating: bytes[..<count], as: UTF8.self) else {
      throw TextFileError(reason: "is not UTF-8")
    }
    return text
  }
}

/// Why a file cannot be read.
struct TextFileError: Error, Sendable, Hashable {
  /// A clause with the file as its subject: `is not UTF-8`.
  let reason: String

  init(reason: String) {
    self.reason = reason
  }

  /// What the system says.
  init(errno: Int32) {
    self.reason = "cannot be read: \(String(cString: strerror(errno)))"
  }
}
