/// A setting of `sidelight serve`. Flags, environment variables, files, help, the reference page
/// and validation are derived from its declaration.
public struct Setting: Sendable, CustomStringConvertible {
  /// The frequency of use. The short help lists the common settings.
  public enum Use: Sendable, Hashable {
    case common, advanced
  }

  /// The time at which a change in a file takes effect.
  public enum Change: Sendable, Hashable {
    /// On SIGHUP, at once or for new connections and sessions.
    case onReload
    /// At the restart of the server.
    case onRestart
  }

  /// The name, which is the path in files: `limits.max-sessions`.
  public let key: String
  /// The earlier names, which still work, with a warning.
  public let formerKeys: [String]
  /// The flag, `--max-sessions`. `nil` for secrets, since other users see a process's arguments.
  public let flag: String?
  /// The one-letter flag, if any.
  public let shortFlag: Character?
  /// The description of its values.
  public let kind: SettingKind
  /// The purpose, in one sentence.
  public let summary: String
  /// The frequency of use.
  public let use: Use
  /// The time at which a change takes effect.
  public let change: Change
  /// Whether the value is never shown.
  public let isSecret: Bool

  /// The conversion of mappings in files to texts. `nil` if only texts are valid.
  let mapping: SettingMapping?
  private let readTexts: @Sendable (ServeConfiguration) -> [String]?
  private let writeTexts:
    @Sendable ([String], inout ServeConfiguration) throws(InvalidSettingValue) -> Void
  private let valuesAreSame: @Sendable (ServeConfiguration, ServeConfiguration) -> Bool
  private let copyValue: @Sendable (ServeConfiguration, inout ServeConfiguration) -> Void

  /// Declares a setting.
  ///
  /// - Parameters:
  ///   - flag: The flag without dashes. `nil` derives it from the key.
  ///   - formerly: The earlier keys. Their flags and variables are derived from them.
  init<Value>(
    _ key: String, _ property: any WritableKeyPath<ServeConfiguration, Value> & Sendable,
    _ format: SettingFormat<Value>, flag: String? = nil, short: Character? = nil,
    formerly: [String] = [], use: Use = .advanced,
    change: Change = .onRestart, isSecret: Bool = false, _ summary: String
  ) {
    self.key = key
    self.formerKeys = formerly
    self.flag = isSecret ? nil : flag.map { "--" + $0 } ?? Self.flag(of: key)
    self.shortFlag = short
    self.kind = format.kind
    self.summary = summary
    self.use = use
    self.change = change
    self.isSecret = isSecret
    self.mapping = format.mapping
    self.readTexts = { format.texts($0[keyPath: property]) }
    self.writeTexts = { texts, configuration throws(InvalidSettingValue) in
      configuration[keyPath: property] = try format.parse(texts)
    }
    self.valuesAreSame = { $0[keyPath: property] == $1[keyPath: property] }
    self.copyValue = { $1[keyPath: property] = $0[keyPath: property] }
  }

  /// The key.
  public var description: String { self.key }

  /// The environment variable: `SIDELIGHT_LIMITS_MAX_SESSIONS`.
  public var variable: String { Self.variable(of: self.key) }

  static let variablePrefix = "SIDELIGHT_"

  /// Returns the environment variable derived from a key.
  static func variable(of key: String) -> String {
    Self.variablePrefix + key.uppercased().map { $0.isLetter || $0.isNumber ? $0 : "_" }
  }

  /// Returns the flag derived from a key.
  static func flag(of key: String) -> String { "--" + key.replacing(".", with: "-") }

  /// The value in a configuration, as text, if any.
  func texts(in configuration: ServeConfiguration) -> [String]? { self.readTexts(configuration) }

  /// Sets the value in a configuration.
  ///
  /// - Throws: ``InvalidSettingValue`` if the text is not a value or is out of range.
  func write(_ texts: [String], to configuration: inout ServeConfiguration)
    throws(InvalidSettingValue)
  {
    try self.writeTexts(texts, &configuration)
  }

  /// Returns whether two configurations have the same value.
  func isSame(_ one: ServeConfiguration, _ other: ServeConfiguration) -> Bool {
    self.valuesAreSame(one, other)
  }

  /// Copies the value from one configuration to another.
  func copy(from source: ServeConfiguration, to target: inout ServeConfiguration) {
    self.copyValue(source, &target)
  }
}

/// The description of a setting's values.
public struct SettingKind: Sendable, Hashable {
  /// The type of a value: `integer`, `duration`, `address`.
  public var type: String
  /// The unit, if the text of a value does not contain it: `sessions`.
  public var unit: String?
  /// The valid values: `1 to 65536`, `latency or throughput`.
  public var range: String?
  /// The meaning of a missing value, if it is valid: `chosen by the system`.
  public var none: String?
  /// Whether the setting is a list.
  public var isList = false
  /// Whether a value is a bare number that counts ``unit``.
  public var isCount = false
  /// Whether a value is Boolean; its flag then works without a value.
  public var isSwitch = false
}

/// The origin of a value.
public enum SettingOrigin: Sendable, Hashable, CustomStringConvertible {
  /// A flag by its name: `--max-sessions`.
  case flag(String)
  /// An environment variable by its name.
  case environment(String)
  /// A line of a file.
  case file(path: String, line: Int)
  /// Not set.
  case `default`

  /// A short text: `/etc/sidelight.yaml:12`.
  public var description: String {
    switch self {
    case .flag(let name): name
    case .environment(let name): name
    case .file(let path, let line): "\(path):\(line)"
    case .default: "default"
    }
  }
}

/// An error in the settings of the command.
public struct SettingError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The source, the value, and the expectation: `--max-sessions is 0; the range is 1 to 65536`.
  public let description: String

  init(_ description: String) {
    self.description = description
  }

  init(
    _ setting: Setting, _ texts: [String], from origin: SettingOrigin,
    _ error: InvalidSettingValue
  ) {
    let shown = texts.map(\.shortened.quotedWhereNeeded).joined(separator: ", ")
    let value = setting.isSecret ? "<redacted>" : texts.isEmpty ? "empty" : shown
    self.init("\(setting.named(in: origin)) is \(value); \(error.reason)")
  }

  init(_ removed: RemovedSetting, named name: String) {
    self.init("\(name) was removed; \(removed.remedy)")
  }

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
