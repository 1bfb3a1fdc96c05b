import SidelightServer
import SidelightVision

/// All settings, in the order in which they are shown.
///
/// A setting is declared once, in its group. Flags, environment variables, files, help, the
/// reference page and validation follow from the declaration. To add one, add a row for a property
/// of ``ServeConfiguration`` or of a value that it holds, and run `make reference`. Properties that
/// only the process uses are declared next to their rows.
public enum SettingTable {
  /// A group of related settings.
  public struct Group: Sendable {
    /// The heading.
    public let title: String
    /// The settings, in order; a later one may rely on the values of earlier ones.
    public let settings: [Setting]
  }

  /// All groups, in display order.
  public static let groups: [Group] = [
    Self.addresses, Self.studio, Self.transport, Self.limits, Self.resume, Self.fleet,
    Self.compute, Self.workers, Self.filterProcesses, Self.memory, Self.sharedMemory, Self.assets,
    Self.vision, Self.tls, Self.tokens, Self.callers, Self.permissions, Self.guards, Self.shutdown,
    Self.logs,
  ]

  /// The settings of all groups.
  public static let all = Self.groups.flatMap(\.settings)

  private static let byKey = Dictionary(
    uniqueKeysWithValues: Self.all.flatMap { setting in
      ([setting.key] + setting.formerKeys).map { ($0, setting) }
    })
  private static let byFlag: [String: Setting] = Self.all.reduce(into: [:]) { flags, setting in
    if let flag = setting.flag { flags[flag] = setting }
    for key in setting.formerKeys { flags[Setting.flag(of: key)] = setting }
    if let letter = setting.shortFlag { flags["-\(letter)"] = setting }
  }
  private static let sections = Set(
    Self.all.flatMap { setting in
      let parts = setting.key.split(separator: ".")
      return (1 ..< max(1, parts.count)).map { parts[..<$0].joined(separator: ".") }
    })

  /// Returns the setting with a key, which may be an earlier one.
  public static func setting(_ key: String) -> Setting? { Self.byKey[key] }

  /// Returns the setting with a flag, including its dashes.
  static func setting(flag: String) -> Setting? { Self.byFlag[flag] }

  /// Returns whether a text is the section of a key, such as `limits`.
  static func isSection(_ key: String) -> Bool { Self.sections.contains(key) }

  /// Returns the existing section that is nearest to an unknown one.
  static func nearestSection(to section: String) -> String? {
    Spelling.nearest(to: section, among: Array(self.sections))
  }

  /// Returns the existing key that is nearest to an unknown one.
  public static func nearestKey(to key: String) -> String? {
    let last = { (key: String) in key.split(separator: ".").last.map(String.init) ?? key }
    // If only the section is wrong or missing, the last part identifies the setting.
    let keys = Self.all.map(\.key)
    if let key = keys.first(where: { last($0) == last(key) }) { return key }
    if let key = Spelling.nearest(to: key, among: keys) { return key }
    // Short names are near to too many others.
    guard last(key).count > 3 else { return nil }
    return Spelling.nearest(to: last(key), among: keys.map(last)).flatMap { name in
      keys.first { last($0) == name }
    }
  }
}

extension SettingTable {
  static let vision = Group(
    title: "Models",
    settings: [
      Setting(
        "models", \.models, Format.model.list(), flag: "model",
        """
        ONNX models for mattes, faces or landmarks. They are loaded and run once at the start, \
        which fails if one of them cannot run. In files a model can also be a mapping of name, \
        task, file and runtime.
        """),
      Setting(
        "onnx-runtime", \.onnxRuntime, Format.path().optional(none: "models run in OpenCV"),
        "ONNX Runtime's shared library, in which models run unless they name another runtime."),
    ])
}

extension Format {
  /// A model, as text or as a mapping.
  fileprivate static var model: SettingFormat<ConfiguredModel> {
    var format = SettingFormat(
      SettingKind(type: "model", range: ConfiguredModel.form),
      parse: { text throws(InvalidSettingValue) in
        do throws(VisionError) {
          return try ConfiguredModel(text)
        } catch {
          throw InvalidSettingValue(error.message)
        }
      },
      text: \.description)
    format.mapping = SettingMapping(fields: ConfiguredModel.fieldNames) {
      fields throws(InvalidSettingValue) in
      do throws(VisionError) {
        return try ConfiguredModel(fields: fields).description
      } catch {
        throw InvalidSettingValue(error.message)
      }
    }
    return format
  }
}

extension SettingTable {
  static let permissions = Group(
    title: "Permissions",
    settings: [
      Setting(
        "permissions", \.base.permissions, Format.permission.list(), flag: "permit",
        change: .onReload,
        """
        Filters, and ranges of their parameters, that callers and participants may use, as a list \
        of rules; the first match applies. In files a rule can also be a mapping. Without rules \
        all filters are permitted.
        """)
    ])
}

extension Format {
  /// A rule, as text or as a mapping.
  fileprivate static var permission: SettingFormat<PermissionRule> {
    var format = SettingFormat(
      SettingKind(type: "rule", range: PermissionRule.form),
      parse: { text throws(InvalidSettingValue) in
        do throws(ConfigurationError) {
          return try PermissionRule(text)
        } catch {
          throw InvalidSettingValue(Self.reason(error))
        }
      },
      text: \.description)
    format.mapping = SettingMapping(
      fields: PermissionRule.fieldNames, listFields: Set(PermissionRule.fieldNames),
      mapFields: ["parameters"]
    ) { fields throws(InvalidSettingValue) in
      do throws(ConfigurationError) {
        return try PermissionRule(fields: fields).description
      } catch {
        throw InvalidSettingValue(Self.reason(error))
      }
    }
    return format
  }

  private static func reason(_ error: ConfigurationError) -> String {
    error.setting == "permissions"
      ? "expected \(error.range)"
      : "\(error.setting) is \(error.value); expected \(error.range)"
  }
}
