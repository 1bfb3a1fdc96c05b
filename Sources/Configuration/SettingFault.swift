/// One thing that is wrong with what the command was told.
public struct SettingFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// The source, the value, and what was expected: `--max-sessions is 0, the range is 1 to 65536`.
  public let description: String

  init(_ description: String) {
    self.description = description
  }

  /// A value that is not taken.
  init(_ setting: Setting, _ texts: [String], from origin: SettingOrigin, _ refusal: SettingRefusal)
  {
    let shown = texts.map(\.shortened.quotedWhereNeeded).joined(separator: ", ")
    let value = setting.isSecret ? "<redacted>" : texts.isEmpty ? "nothing" : shown
    self.init("\(setting.named(in: origin)) is \(value), \(refusal.reason)")
  }

  /// Something of a name that does not exist.
  init(unknown name: String, nearest: String?) {
    self.init("\(name.shortened) is unknown" + (nearest.map { "; did you mean \($0)?" } ?? ""))
  }
}

/// All that is wrong, in the order in which it was found.
public struct SettingFaults: Error, Sendable, Hashable, CustomStringConvertible {
  /// At least one.
  public let all: [SettingFault]

  /// One line each.
  public var description: String { self.all.map(\.description).joined(separator: "\n") }
}

extension Setting {
  /// The setting in the words of a source: the flag, the variable, or the place and the key.
  func named(in origin: SettingOrigin) -> String {
    switch origin {
    case .flag, .environment: "\(origin)"
    case .file: "\(origin): \(self.key)"
    case .implied, .default: self.key
    }
  }
}

extension String {
  /// At most 256 characters of it.
  fileprivate var shortened: String { self.count > 256 ? self.prefix(255) + "…" : self }

  /// In quotation marks unless it is a word; without control characters.
  var quotedWhereNeeded: String {
    let isWord = self.allSatisfy { $0.isLetter || $0.isNumber || "-+.:/_%".contains($0) }
    return !self.isEmpty && isWord ? self : self.debugDescription
  }
}
