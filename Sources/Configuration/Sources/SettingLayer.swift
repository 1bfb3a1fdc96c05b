import Configuration

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
