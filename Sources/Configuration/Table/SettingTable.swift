/// All settings, in the order in which they are shown.
///
/// A setting is declared once, in the group that it belongs to; what flags, variables, files, help, the
/// reference page and checks know of it follows from there. A new one is a row; what it sets is a property of
/// ``ServeConfiguration``, or of what that holds. Run `make reference` then.
public enum SettingTable {
  /// Settings that belong together.
  public struct Group: Sendable {
    /// A heading.
    public let title: String
    /// A later one may rely on the values of those before.
    public let settings: [Setting]
  }

  /// The groups.
  public static let groups: [Group] = [
    Self.addresses, Self.transport, Self.limits, Self.resume, Self.compute, Self.workers,
    Self.memory, Self.sharedMemory, Self.assets, Self.tls, Self.tokens, Self.callers, Self.guards,
    Self.shutdown, Self.logs,
  ]

  /// The settings of all groups.
  public static let all = Self.groups.flatMap(\.settings)

  private static let byKey = Dictionary(uniqueKeysWithValues: Self.all.map { ($0.key, $0) })
  private static let byFlag: [String: Setting] = Self.all.reduce(into: [:]) { flags, setting in
    if let flag = setting.flag { flags[flag] = setting }
    if let letter = setting.shortFlag { flags["-\(letter)"] = setting }
  }
  private static let sections = Set(
    Self.all.flatMap { setting in
      let parts = setting.key.split(separator: ".")
      return (1 ..< max(1, parts.count)).map { parts[..<$0].joined(separator: ".") }
    })

  /// The setting of a key.
  public static func setting(_ key: String) -> Setting? { Self.byKey[key] }

  /// The setting of a flag, with its dashes.
  static func setting(flag: String) -> Setting? { Self.byFlag[flag] }

  /// Whether keys begin with that: `limits`.
  static func isSection(_ key: String) -> Bool { Self.sections.contains(key) }

  /// The section that is most like one that does not exist.
  static func nearestSection(to section: String) -> String? {
    Spelling.nearest(to: section, among: Array(self.sections))
  }

  /// The key that is most like one that does not exist.
  public static func nearestKey(to key: String) -> String? {
    let last = { (key: String) in key.split(separator: ".").last.map(String.init) ?? key }
    // Where only the section is wrong or missing, the rest says which is meant.
    let keys = Self.all.map(\.key)
    if let key = keys.first(where: { last($0) == last(key) }) { return key }
    if let key = Spelling.nearest(to: key, among: keys) { return key }
    // What is that short is like everything.
    guard last(key).count > 3 else { return nil }
    return Spelling.nearest(to: last(key), among: keys.map(last)).flatMap { name in
      keys.first { last($0) == name }
    }
  }
}
