public import SidelightWire

/// The scopes of a user, group or certificate in text form: `1000=stream+assets`,
/// `dns:camera-7.example=stream`, or `1000` alone for a participant's scopes.
public struct ScopeGrant: Sendable, Hashable, CustomStringConvertible {
  /// The user id, group id or certificate name.
  public var name: String
  /// The scopes.
  public var scopes: Set<Scope>

  /// Reads a grant.
  ///
  /// - Parameters:
  ///   - text: A name, optionally with `=` and either `all` or scopes joined by `+` or commas. A
  ///     name that contains `=` must have scopes after it.
  ///   - setting: The setting that has the value, for errors.
  /// - Throws: `ConfigurationError` that lists the valid scopes.
  public init(_ text: String, setting: String) throws(ConfigurationError) {
    let equals = text.lastIndex(of: "=")
    let tail = equals.map { text[text.index(after: $0)...] }
    if let equals, let tail, let scopes = Self.scopes(tail) {
      self.init(name: String(text[..<equals]), scopes: scopes)
    } else if equals == nil {
      self.init(name: text, scopes: .participant)
    } else {
      throw ConfigurationError(
        setting: setting, value: text,
        range:
          "NAME=SCOPES with scopes of \(Scope.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    guard !self.name.isEmpty else {
      throw ConfigurationError(setting: setting, value: text, range: "a name, = and scopes")
    }
  }

  /// The form that ``init(_:setting:)`` reads.
  public var description: String {
    "\(self.name)=\(self.scopes.map(\.rawValue).sorted().joined(separator: "+"))"
  }

  private init(name: String, scopes: Set<Scope>) {
    self.name = name
    self.scopes = scopes
  }

  private static func scopes(_ text: Substring) -> Set<Scope>? {
    if text == "all" { return .all }
    let scopes = text.split { $0 == "," || $0 == "+" }.map { Scope(rawValue: String($0)) }
    return scopes.isEmpty || scopes.contains(nil) ? nil : Set(scopes.compactMap(\.self))
  }
}
