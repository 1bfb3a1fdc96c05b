import Foundation
import SidelightServer

/// Small text files that users write.
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
      let length = bytes.withUnsafeMutableBytes {
        read(descriptor, $0.baseAddress.map { $0 + count }, $0.count - count)
      }
      if length < 0, errno == EINTR { continue }
      guard length >= 0 else { throw TextFileError(errno: errno) }
      if length == 0 { break }
      count += length
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

/// A file of keys that sign resume tokens, one `NAME:SECRET` per line, the secret in Base64 with at
/// least 32 bytes. The first key signs, all are accepted. Empty lines and lines that begin with `#`
/// are ignored.
struct ResumeKeyFile: Sendable, Equatable {
  let path: String
  let keys: [ResumeKey]

  /// Reads the file.
  ///
  /// - Throws: ``InvalidSettingValue``, which never contains a secret.
  init(path: String) throws(InvalidSettingValue) {
    self.path = path
    let text: String
    do throws(TextFileError) {
      text = try TextFile.contents(of: path)
    } catch {
      throw InvalidSettingValue("the file \(error.reason)")
    }
    var keys: [ResumeKey] = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      let line = line.trimmingCharacters(in: .whitespaces)
      if line.isEmpty || line.hasPrefix("#") { continue }
      do throws(InvalidSettingValue) {
        keys.append(try ResumeKey(line: line))
      } catch {
        throw InvalidSettingValue("line \(index + 1): \(error.reason)")
      }
    }
    guard !keys.isEmpty else { throw InvalidSettingValue("the file contains no key") }
    self.keys = keys
  }
}

extension ResumeKey {
  /// Reads `NAME:SECRET`.
  ///
  /// - Throws: ``InvalidSettingValue``, which never contains the text.
  init(line: String) throws(InvalidSettingValue) {
    let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
    guard parts.count == 2, (1 ... 64).contains(parts[0].utf8.count) else {
      throw InvalidSettingValue("expected NAME:SECRET with a name of 1 to 64 bytes")
    }
    guard let secret = Data(base64Encoded: parts[1]), secret.count >= 32 else {
      throw InvalidSettingValue("expected a secret of at least 32 bytes in Base64")
    }
    self.init(id: parts[0], secret: secret)
  }
}
