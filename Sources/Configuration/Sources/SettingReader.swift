import Configuration
import Synchronization

/// Reads settings with swift-configuration. The first layer with a value wins and is reported.
struct SettingReader {
  private let reader: ConfigReader
  private let trace = AccessTrace()
  private let layers: [SettingLayer]

  /// - Parameter layers: The layers, in order of precedence.
  init(_ layers: [SettingLayer]) {
    self.layers = layers
    self.reader = ConfigReader(providers: layers.map(\.provider), accessReporter: self.trace)
  }

  /// Returns the value of a setting and its origin. `nil` if no layer has one.
  func given(for setting: Setting) -> (texts: [String], origin: SettingOrigin)? {
    let key = ConfigKey(setting.key)
    let texts =
      setting.kind.isList
      ? self.reader.stringArray(forKey: key, isSecret: setting.isSecret)
      : self.reader.string(forKey: key, isSecret: setting.isSecret).map { [$0] }
    // Providers are asked in turn, up to the first that has a value.
    guard let texts, let asked = self.trace.providersAsked else { return nil }
    return (texts, self.layers[asked - 1].origin(setting))
  }

  /// Records the last access.
  private final class AccessTrace: AccessReporter {
    private let asked = Mutex<Int?>(nil)

    /// The number of providers that the last access asked.
    var providersAsked: Int? { self.asked.withLock(\.self) }

    func report(_ event: AccessEvent) {
      self.asked.withLock { $0 = event.providerResults.count }
    }
  }
}

/// One source of values, for all settings.
struct SettingLayer: Sendable {
  /// The provider that swift-configuration reads: one text or a list of texts per key.
  let provider: any ConfigProvider
  /// Returns the origin of a setting's value.
  let origin: @Sendable (Setting) -> SettingOrigin

  /// Creates a layer from values that have been read already.
  init(
    name: String, values: [String: [String]],
    origin: @escaping @Sendable (Setting) -> SettingOrigin
  ) {
    let contents = SettingTable.all.compactMap { setting -> (AbsoluteConfigKey, ConfigValue)? in
      guard let texts = values[setting.key] else { return nil }
      let content: ConfigContent =
        setting.kind.isList ? .stringArray(texts) : .string(texts.last ?? "")
      return (
        AbsoluteConfigKey(ConfigKey(setting.key)),
        ConfigValue(content, isSecret: setting.isSecret)
      )
    }
    self.provider = InMemoryProvider(
      name: name, values: Dictionary(uniqueKeysWithValues: contents))
    self.origin = origin
  }

  /// Creates a layer of environment variables. Commas separate the elements of lists.
  init(environment: [String: String]) {
    self.provider = EnvironmentVariablesProvider(
      environmentVariables: environment,
      secretsSpecifier: .specific(Set(SettingTable.all.filter(\.isSecret).map(\.variable)))
    ).prefixKeys(with: "sidelight")
    self.origin = { .environment($0.variable) }
  }
}
