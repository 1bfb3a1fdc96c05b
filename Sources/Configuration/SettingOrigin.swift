/// The origin of a value.
public enum SettingOrigin: Sendable, Hashable, CustomStringConvertible {
  /// A flag by its name: `--max-sessions`.
  case flag(String)
  /// An environment variable by its name.
  case environment(String)
  /// A line of a file.
  case file(path: String, line: Int)
  /// Derived from another setting, by its key.
  case implied(by: String)
  /// Not set.
  case `default`

  /// A short text: `/etc/sidelight.yaml:12`.
  public var description: String {
    switch self {
    case .flag(let name): name
    case .environment(let name): name
    case .file(let path, let line): "\(path):\(line)"
    case .implied(let key): "from \(key)"
    case .default: "default"
    }
  }
}
