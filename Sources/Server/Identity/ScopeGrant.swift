public import SidelightWire

/// What somebody may do, as people write it: `1000=stream+assets`, `dns:camera-7.example=stream`, or `1000`
/// alone for a participant's scopes.
public struct ScopeGrant: Sendable, Hashable, CustomStringConvertible {
  /// Who.
  public var name: String
  /// What he may do.
  public var scopes: Set<Scope>

  /// Reads a grant.
  ///
  /// - Parameters:
  ///   - text: A name; `=` and scopes, joined by `+` or commas, or `all`, may follow. Names may have `=`
  ///     in them, scopes have not; after such a name there must be scopes.
  ///   - setting: Whose value it is, for faults.
  /// - Throws: `ConfigurationFault` that names the scopes there are.
  public init(_ text: String, setting: String) throws(ConfigurationFault) {
    let equals = text.lastIndex(of: "=")
    let tail = equals.map { text[text.index(after: $0)...] }
    if let equals, let tail, let scopes = Self.scopes(tail) {
      self.init(name: String(text[..<equals]), scopes: scopes)
    } else if equals == nil {
      self.init(name: text, scopes: .participant)
    } else {
      throw ConfigurationFault(
        setting: setting, value: text,
        range:
          "NAME=SCOPES with scopes of \(Scope.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    guard !self.name.isEmpty else {
      throw ConfigurationFault(setting: setting, value: text, range: "a name, = and scopes")
    }
  }

  /// As it is read.
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
