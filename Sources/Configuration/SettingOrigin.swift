/// Where a value came from.
public enum SettingOrigin: Sendable, Hashable, CustomStringConvertible {
  /// A flag by its name: `--max-sessions`.
  case flag(String)
  /// An environment variable by its name.
  case environment(String)
  /// A line of a file.
  case file(path: String, line: Int)
  /// Another setting, by its key, that it follows unless it is given.
  case implied(by: String)
  /// Nobody said anything.
  case `default`

  /// In a few words: `/etc/sidelight.yaml:12`.
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
