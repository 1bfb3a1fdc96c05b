import Configuration

/// One source of values, for all settings.
struct SettingLayer: Sendable {
  /// Where swift-configuration asks for values: one text, or a list of them.
  let provider: any ConfigProvider
  /// Where the value of a setting stands.
  let origin: @Sendable (Setting) -> SettingOrigin

  /// A source that has been read already.
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

  /// The environment. Lists are separated by commas.
  init(environment: [String: String]) {
    self.provider = EnvironmentVariablesProvider(
      environmentVariables: environment,
      secretsSpecifier: .specific(Set(SettingTable.all.filter(\.isSecret).map(\.variable)))
    ).prefixKeys(with: "sidelight")
    self.origin = { .environment($0.variable) }
  }
}
