/// The settings of a server from all sources: flags take precedence over environment variables,
/// these over a file, and the file over defaults.
public struct Settings: Sendable {
  /// The resulting configuration.
  public internal(set) var configuration: ServeConfiguration
  /// The origins of values by key. Missing keys have their defaults.
  private(set) var origins: [String: SettingOrigin]

  /// Reads all sources.
  ///
  /// - Parameters:
  ///   - commandLine: The flags, and optionally the path of a file.
  ///   - environment: The environment variables; only those that begin with `SIDELIGHT_` are read.
  /// - Throws: ``SettingErrors`` with all faults, also in values that others override.
  public init(
    commandLine: CommandLineSource = CommandLineSource(), environment: [String: String] = [:]
  ) throws(SettingErrors) {
    let environment = EnvironmentSource(environment)
    let path = commandLine.file ?? environment.file
    let file = path.flatMap { $0.isEmpty ? nil : FileSource(path: $0) }
    let layers = [commandLine.layer, environment.layer] + (file.map { [$0.layer] } ?? [])

    var faults = commandLine.faults + environment.faults + (file?.faults ?? [])
    for layer in layers { faults += Self.faults(of: layer) }
    guard faults.isEmpty else { throw SettingErrors(all: faults) }

    self.configuration = ServeConfiguration()
    self.origins = [:]
    let reader = SettingReader(layers)
    for setting in SettingTable.all {
      guard let (texts, origin) = reader.given(for: setting) else { continue }
      self.origins[setting.key] = origin
      do throws(InvalidSettingValue) {
        try setting.write(texts, to: &self.configuration)
      } catch {
        // A file that the setting names may have changed meanwhile.
        faults.append(SettingError(setting, texts, from: origin, error))
      }
    }
    faults += self.follow()
    guard faults.isEmpty else { throw SettingErrors(all: faults) }
  }

  /// The defaults.
  public static let defaults = Settings()

  private init() {
    self.configuration = ServeConfiguration()
    self.origins = [:]
  }

  /// Returns the origin of a setting's value.
  public func origin(of setting: Setting) -> SettingOrigin {
    self.origins[setting.key] ?? .default
  }

  /// Returns the value of a setting as text. `nil` if it has none or is secret.
  public func texts(of setting: Setting) -> [String]? {
    setting.isSecret ? nil : setting.texts(in: self.configuration)
  }

  /// Returns the faults in the values of one source.
  private static func faults(of layer: SettingLayer) -> [SettingError] {
    let reader = SettingReader([layer])
    var scratch = ServeConfiguration()
    return SettingTable.all.compactMap { setting in
      guard let (texts, origin) = reader.given(for: setting) else { return nil }
      do throws(InvalidSettingValue) {
        try setting.write(texts, to: &scratch)
        return nil
      } catch {
        return SettingError(setting, texts, from: origin, error)
      }
    }
  }
}

// MARK: - Dependencies between settings

extension Settings {
  /// Returns whether a source sets the setting.
  func isGiven(_ key: String) -> Bool {
    switch self.origins[key] {
    case .flag, .environment, .file: true
    case .implied, .default, nil: false
    }
  }

  /// Records the origin of a value.
  mutating func setOrigin(of setting: Setting, to origin: SettingOrigin) {
    self.origins[setting.key] = origin == .default ? nil : origin
  }

  /// Records that a value is derived from another setting.
  mutating func imply(_ key: String, by other: String) { self.origins[key] = .implied(by: other) }
}
