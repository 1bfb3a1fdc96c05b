/// What a server is told, by all sources together: flags over environment variables over a file over
/// defaults.
public struct Settings: Sendable {
  /// What it comes to.
  public internal(set) var configuration: ServeConfiguration
  /// Where values came from, by key; what is not here is a default.
  private(set) var origins: [String: SettingOrigin]

  /// Reads all sources.
  ///
  /// - Parameters:
  ///   - commandLine: The flags, and maybe the name of a file.
  ///   - environment: The environment; what does not begin with `SIDELIGHT_` is left alone.
  /// - Throws: ``SettingFaults`` with all that is wrong, in values that others override too.
  public init(
    commandLine: CommandLineSource = CommandLineSource(), environment: [String: String] = [:]
  ) throws(SettingFaults) {
    let environment = EnvironmentSource(environment)
    let path = commandLine.file ?? environment.file
    let file = path.flatMap { $0.isEmpty ? nil : FileSource(path: $0) }
    let layers = [commandLine.layer, environment.layer] + (file.map { [$0.layer] } ?? [])

    var faults = commandLine.faults + environment.faults + (file?.faults ?? [])
    for layer in layers { faults += Self.faults(of: layer) }
    guard faults.isEmpty else { throw SettingFaults(all: faults) }

    self.configuration = ServeConfiguration()
    self.origins = [:]
    let reader = SettingReader(layers)
    for setting in SettingTable.all {
      guard let (texts, origin) = reader.given(for: setting) else { continue }
      self.origins[setting.key] = origin
      do throws(SettingRefusal) {
        try setting.write(texts, to: &self.configuration)
      } catch {
        // A file that a setting names may have changed since.
        faults.append(SettingFault(setting, texts, from: origin, error))
      }
    }
    faults += self.follow()
    guard faults.isEmpty else { throw SettingFaults(all: faults) }
  }

  /// What stands where nobody says anything.
  public static let defaults = Settings()

  private init() {
    self.configuration = ServeConfiguration()
    self.origins = [:]
  }

  /// Where the value of a setting came from.
  public func origin(of setting: Setting) -> SettingOrigin {
    self.origins[setting.key] ?? .default
  }

  /// The value of a setting as it is written; `nil`: none, or nobody may see it.
  public func texts(of setting: Setting) -> [String]? {
    setting.isSecret ? nil : setting.texts(in: self.configuration)
  }

  /// What is wrong with the values of one source.
  private static func faults(of layer: SettingLayer) -> [SettingFault] {
    let reader = SettingReader([layer])
    var scratch = ServeConfiguration()
    return SettingTable.all.compactMap { setting in
      guard let (texts, origin) = reader.given(for: setting) else { return nil }
      do throws(SettingRefusal) {
        try setting.write(texts, to: &scratch)
        return nil
      } catch {
        return SettingFault(setting, texts, from: origin, error)
      }
    }
  }
}

// MARK: - What settings have to do with each other

extension Settings {
  /// Whether a source states the setting.
  func isGiven(_ key: String) -> Bool {
    switch self.origins[key] {
    case .flag, .environment, .file: true
    case .implied, .default, nil: false
    }
  }

  /// Notes where a value came from.
  mutating func setOrigin(of setting: Setting, to origin: SettingOrigin) {
    self.origins[setting.key] = origin == .default ? nil : origin
  }

  /// Notes that a setting follows another one.
  mutating func imply(_ key: String, by other: String) { self.origins[key] = .implied(by: other) }
}
