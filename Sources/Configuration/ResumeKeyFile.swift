import Foundation
import SidelightServer

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
