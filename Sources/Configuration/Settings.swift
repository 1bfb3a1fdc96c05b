import SidelightIdentity
import SidelightServer
import SidelightVision
import SidelightWire

/// The settings of a server from all sources: flags take precedence over environment variables,
/// these over a file, and the file over defaults.
public struct Settings: Sendable {
  /// The resulting configuration.
  public private(set) var configuration: ServeConfiguration
  /// Warnings about renamed settings, with both names and the source.
  public let warnings: [String]
  /// The path of the settings file, if any.
  private let file: String?
  /// The origins of values by key. Missing keys have their defaults.
  private var origins: [String: SettingOrigin]

  /// Reads all sources.
  ///
  /// - Parameters:
  ///   - commandLine: The flags, and optionally the path of a file.
  ///   - environment: The environment variables; only names that begin with `SIDELIGHT_` are read.
  ///   - defaults: The texts of defaults that differ from the defaults of `sidelight serve`, by
  ///     key.
  /// - Throws: ``SettingErrors`` with all errors, also in values that others override.
  public init(
    commandLine: CommandLineSource = CommandLineSource(), environment: [String: String] = [:],
    defaults: [String: [String]] = [:]
  ) throws(SettingErrors) {
    let environment = EnvironmentSource(environment)
    let path = commandLine.file ?? environment.file
    let file = path.flatMap { $0.isEmpty ? nil : FileSource(path: $0) }
    let layers =
      [commandLine.layer, environment.layer] + (file.map { [$0.layer] } ?? [])
      + [SettingLayer(values: defaults) { _ in .default }]

    var errors = commandLine.errors + environment.errors + (file?.errors ?? [])
    for layer in layers { errors += Self.errors(of: layer) }
    guard errors.isEmpty else { throw SettingErrors(all: errors) }

    self.configuration = ServeConfiguration()
    self.file = file?.path
    self.warnings = commandLine.warnings + environment.warnings + (file?.warnings ?? [])
    self.origins = [:]
    for setting in SettingTable.all {
      let first = layers.lazy.compactMap { $0.value(of: setting) }.first
      guard let (texts, origin) = first else { continue }
      self.origins[setting.key] = origin
      do throws(InvalidSettingValue) {
        try setting.write(texts, to: &self.configuration)
      } catch {
        // A file that the setting names may have changed meanwhile.
        errors.append(SettingError(setting, texts, from: origin, error))
      }
    }
    errors += self.conflicts()
    guard errors.isEmpty else { throw SettingErrors(all: errors) }
  }

  /// The defaults.
  public static let defaults = Settings()

  private init() {
    self.configuration = ServeConfiguration()
    self.file = nil
    self.warnings = []
    self.origins = [:]
  }

  /// Returns the origin of a setting's value.
  public func origin(of setting: Setting) -> SettingOrigin {
    self.origins[setting.key] ?? .default
  }

  /// Returns the value of a setting as text, or `nil` if it is missing or secret.
  public func texts(of setting: Setting) -> [String]? {
    setting.isSecret ? nil : setting.texts(in: self.configuration)
  }

  /// Returns the errors in the values of one source.
  private static func errors(of layer: SettingLayer) -> [SettingError] {
    var configuration = ServeConfiguration()
    return SettingTable.all.compactMap { setting in
      guard let (texts, origin) = layer.value(of: setting) else { return nil }
      do throws(InvalidSettingValue) {
        try setting.write(texts, to: &configuration)
        return nil
      } catch {
        return SettingError(setting, texts, from: origin, error)
      }
    }
  }

  /// Returns whether a source sets the setting.
  func isSet(_ key: String) -> Bool {
    switch self.origins[key] {
    case .flag, .environment, .file: true
    case .default, nil: false
    }
  }

  // MARK: Reloading

  /// The paths of the files that a reload reads: the settings file, and the keys and certificates
  /// that settings name.
  public var files: [String] {
    let named = SettingTable.all.filter { $0.change == .onReload && $0.kind.type == "path" }
    return (self.file.map { [$0] } ?? [])
      + named.flatMap { $0.texts(in: self.configuration) ?? [] }
  }

  /// The changes that a second reading of the sources makes to a running server.
  public struct Reload: Sendable {
    /// The server's settings from now on.
    public let settings: Settings
    /// The settings that changed.
    public let applied: [Setting]
    /// The settings that differ but keep their old values until the server restarts.
    public let awaitingRestart: [Setting]
  }

  /// Applies the newer settings that a running server can change.
  public func reloading(_ newer: Settings) -> Reload {
    var result = self
    var applied: [Setting] = []
    var awaitingRestart: [Setting] = []
    for setting in SettingTable.all
    where !setting.isSame(self.configuration, newer.configuration) {
      switch setting.change {
      case .onReload:
        result.copy(setting, from: newer)
        applied.append(setting)
      case .onRestart: awaitingRestart.append(setting)
      }
    }
    return Reload(settings: result, applied: applied, awaitingRestart: awaitingRestart)
  }

  private mutating func copy(_ setting: Setting, from newer: Settings) {
    setting.copy(from: newer.configuration, to: &self.configuration)
    self.origins[setting.key] = newer.origins[setting.key]
  }

  // MARK: Dependencies between settings

  /// Returns the conflicts between settings.
  private func conflicts() -> [SettingError] {
    var errors: [SettingError] = []
    if !self.configuration.sharedMemory.allowedUserIDs.isEmpty,
      self.configuration.sharedMemory.socketPath == nil
    {
      // The default directory is private to this user.
      errors.append(self.conflict("shared-memory.users", "requires", "shared-memory.socket"))
    }
    if self.configuration.offersSharedMemory, !SharedMemoryConfiguration.isSupported {
      errors.append(
        SettingError(
          "\(self.name(of: "shared-memory.enabled")) is not supported on this system; "
            + "it requires Linux"))
    }
    if self.isSet("resume.keys"), self.isSet("resume.keys-file") {
      errors.append(self.conflict("resume.keys", "cannot be combined with", "resume.keys-file"))
    }
    let placement = self.configuration.base.placement
    if placement.rebalancing != .off, placement.peers.isEmpty {
      errors.append(self.conflict("fleet.rebalance", "requires", "fleet.peers"))
    }
    errors += self.modelErrors()
    errors += self.configuration.workerErrors.map { key, reason in
      SettingError("\(self.name(of: key)) \(reason)")
    }
    return errors + self.identityErrors()
  }

  private func modelErrors() -> [SettingError] {
    var errors: [SettingError] = []
    let models = self.configuration.models
    let names = Dictionary(grouping: models, by: \.name)
    for name in names.keys.sorted() where names[name]?.count != 1 {
      errors.append(SettingError("\(self.name(of: "models")) has two models \(name)"))
    }
    for (task, limit) in [(ModelTask.faces, 2), (.landmarks, 1)] {
      let count = models.count { $0.task == task }
      guard count > limit else { continue }
      errors.append(
        SettingError(
          "\(self.name(of: "models")) has \(count) models for \(task.rawValue); "
            + "the limit is \(limit)"))
    }
    if models.contains(where: { $0.runtime == .onnxruntime }),
      self.configuration.onnxRuntime == nil
    {
      errors.append(self.conflict("models", "requires", "onnx-runtime"))
    }
    return errors
  }

  private func identityErrors() -> [SettingError] {
    var errors: [SettingError] = []
    func require(_ key: String, _ others: [String]) {
      // Explicit defaults are allowed, since printed settings can be read again.
      let isDefault =
        SettingTable.setting(key)?.isSame(self.configuration, ServeConfiguration()) == true
      guard self.isSet(key), !isDefault else { return }
      for other in others where !self.isSet(other) {
        errors.append(self.conflict(key, "requires", other))
      }
    }
    require("tls.certificate", ["tls.key"])
    require("tls.key", ["tls.certificate"])
    require("tls.client-ca", ["tls.certificate"])
    if (self.configuration.tls.clientCertificates ?? .none) != .none {
      require("tls.client-certificates", ["tls.certificate", "tls.client-ca"])
    }
    require("tls.min-version", ["tls.certificate"])
    require("identity.certificates", ["tls.client-ca"])
    require("token.scope-prefix", ["token.issuer"])
    require("token.issuer", ["token.audience", "token.keys"])
    require("token.audience", ["token.issuer"])
    require("token.keys", ["token.issuer"])
    do throws(ConfigurationError) {
      try self.configuration.tokens?.validate()
    } catch {
      errors.append(
        SettingError(
          "\(self.name(of: error.setting)) is \(error.value); the range is \(error.range)"))
    }
    return errors
  }

  private func conflict(_ key: String, _ verb: String, _ other: String) -> SettingError {
    // Names the other setting in the same form as the source: a flag for a flag.
    let otherName: String
    switch self.origins[key] {
    case .flag: otherName = SettingTable.setting(other)?.flag ?? other
    case .environment: otherName = SettingTable.setting(other)?.variable ?? other
    default: otherName = other
    }
    return SettingError("\(self.name(of: key)) \(verb) \(otherName)")
  }

  private func name(of key: String) -> String {
    guard let setting = SettingTable.setting(key) else { return key }
    return setting.named(in: self.origin(of: setting))
  }
}

/// The values of one source, as texts by key.
struct SettingLayer: Sendable {
  /// The texts by key. The last one counts for a setting that is not a list.
  let values: [String: [String]]
  let origin: @Sendable (Setting) -> SettingOrigin

  /// Returns the value of a setting and its origin. `nil` if the source does not set it.
  func value(of setting: Setting) -> (texts: [String], origin: SettingOrigin)? {
    guard let texts = self.values[setting.key] else { return nil }
    return (setting.kind.isList ? texts : Array(texts.suffix(1)), self.origin(setting))
  }
}
