import SidelightServer

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
