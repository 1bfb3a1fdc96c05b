/// An error in the settings of the command.
public struct SettingError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The source, the value, and the expectation: `--max-sessions is 0; the range is 1 to 65536`.
  public let description: String

  init(_ description: String) {
    self.description = description
  }

  /// Creates the error of an invalid value.
  init(
    _ setting: Setting, _ texts: [String], from origin: SettingOrigin,
    _ error: InvalidSettingValue
  ) {
    let shown = texts.map(\.shortened.quotedWhereNeeded).joined(separator: ", ")
    let value = setting.isSecret ? "<redacted>" : texts.isEmpty ? "empty" : shown
    self.init("\(setting.named(in: origin)) is \(value); \(error.reason)")
  }

  /// Creates the error of a removed setting.
  init(_ removed: RemovedSetting, named name: String) {
    self.init("\(name) was removed; \(removed.remedy)")
  }

  /// Creates the error of an unknown name.
  init(unknown name: String, nearest: String?) {
    self.init("\(name.shortened) is unknown" + (nearest.map { "; did you mean \($0)?" } ?? ""))
  }
}

/// All errors, in the order in which they were found.
public struct SettingErrors: Error, Sendable, Hashable, CustomStringConvertible {
  /// The errors; at least one.
  public let all: [SettingError]

  /// One line per error.
  public var description: String { self.all.map(\.description).joined(separator: "\n") }
}

extension Setting {
  /// The name of the setting in its source: the flag, the variable, or the line and the key.
  func named(in origin: SettingOrigin) -> String {
    switch origin {
    case .flag, .environment: "\(origin)"
    case .file: "\(origin): \(self.key)"
    case .default: self.key
    }
  }
}

extension String {
  /// The text, truncated to 256 characters.
  fileprivate var shortened: String { self.count > 256 ? self.prefix(255) + "…" : self }

  /// The text, quoted and escaped unless it is a plain word.
  var quotedWhereNeeded: String {
    let isWord = self.allSatisfy { $0.isLetter || $0.isNumber || "-+.:/_%".contains($0) }
    return !self.isEmpty && isWord ? self : self.debugDescription
  }
}

/// The reason why a value is invalid.
struct InvalidSettingValue: Error, Sendable, Hashable {
  /// A clause that follows the value and a semicolon: `the range is 1 to 64`.
  let reason: String

  init(_ reason: String) {
    self.reason = reason
  }
}
