/// One thing that `sidelight serve` can be told. Flags, variables, files, help, the reference page and
/// what is refused all come from here.
public struct Setting: Sendable, CustomStringConvertible {
  /// How often it is needed; the everyday ones are in the short help.
  public enum Use: Sendable, Hashable {
    case everyday, rare
  }

  /// When a change in a file takes effect.
  public enum Change: Sendable, Hashable {
    /// With SIGHUP, at once or for what comes from then on.
    case onReload
    /// When the server is started again.
    case onRestart
  }

  /// Its name, which is its path in files: `limits.max-sessions`.
  public let key: String
  /// Its flag, `--max-sessions`; `nil`: it is a secret, and others see a process's arguments.
  public let flag: String?
  /// A second flag of one letter.
  public let shortFlag: Character?
  /// What is said of its values.
  public let kind: SettingKind
  /// What it is for, in one sentence.
  public let summary: String
  /// How often it is needed.
  public let use: Use
  /// When a change takes effect.
  public let change: Change
  /// Whether its value is shown to nobody.
  public let isSecret: Bool

  private let readTexts: @Sendable (ServeConfiguration) -> [String]?
  private let writeTexts:
    @Sendable ([String], inout ServeConfiguration) throws(SettingRefusal) -> Void
  private let valuesAreSame: @Sendable (ServeConfiguration, ServeConfiguration) -> Bool
  private let copyValue: @Sendable (ServeConfiguration, inout ServeConfiguration) -> Void

  /// Declares a setting.
  ///
  /// - Parameters:
  ///   - flag: Its flag without dashes, where that is not simply the key.
  init<Value>(
    _ key: String, _ place: any WritableKeyPath<ServeConfiguration, Value> & Sendable,
    _ form: SettingForm<Value>, flag: String? = nil, short: Character? = nil, use: Use = .rare,
    change: Change = .onRestart, isSecret: Bool = false, _ summary: String
  ) {
    self.key = key
    self.flag =
      isSecret ? nil : "--" + (flag ?? key.replacing(".", with: "-"))
    self.shortFlag = short
    self.kind = form.kind
    self.summary = summary
    self.use = use
    self.change = change
    self.isSecret = isSecret
    self.readTexts = { form.texts($0[keyPath: place]) }
    self.writeTexts = { texts, configuration throws(SettingRefusal) in
      configuration[keyPath: place] = try form.parse(texts)
    }
    self.valuesAreSame = { $0[keyPath: place] == $1[keyPath: place] }
    self.copyValue = { $1[keyPath: place] = $0[keyPath: place] }
  }

  /// The key.
  public var description: String { self.key }

  /// Its environment variable: `SIDELIGHT_LIMITS_MAX_SESSIONS`.
  public var variable: String {
    Self.variablePrefix + self.key.uppercased().map { $0.isLetter || $0.isNumber ? $0 : "_" }
  }

  static let variablePrefix = "SIDELIGHT_"

  /// What a configuration holds, as it is written; `nil`: nothing is given.
  func texts(in configuration: ServeConfiguration) -> [String]? { self.readTexts(configuration) }

  /// Puts a value into a configuration.
  ///
  /// - Throws: ``SettingRefusal`` if it is none, or out of range.
  func write(_ texts: [String], to configuration: inout ServeConfiguration) throws(SettingRefusal) {
    try self.writeTexts(texts, &configuration)
  }

  /// Whether two configurations have the same value.
  func isSame(_ one: ServeConfiguration, _ other: ServeConfiguration) -> Bool {
    self.valuesAreSame(one, other)
  }

  /// Takes the value of another configuration.
  func copy(from source: ServeConfiguration, to target: inout ServeConfiguration) {
    self.copyValue(source, &target)
  }
}
