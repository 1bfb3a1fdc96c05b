/// Who calls, once that is proven, and what he may do.
public struct Principal: Sendable, Hashable {
  /// Names the caller for limits, owners of assets, logs and operators: `sub:alice@https://id.example`,
  /// `cert:dns:camera-7.example`, `unix:uid=1000`. Two callers never have the same.
  public var name: String
  /// What he may do.
  public var scopes: Set<Scope>
  /// When the proof is no longer good, as time since 1970, with whatever leeway is given. Calls that
  /// last until then are ended. None: never.
  public var expires: Duration?

  /// - Parameters:
  ///   - name: Names the caller; unlike every other's.
  ///   - scopes: What he may do.
  ///   - expires: When the proof is no longer good, as time since 1970.
  public init(name: String, scopes: Set<Scope>, expires: Duration? = nil) {
    self.name = name
    self.scopes = scopes
    self.expires = expires
  }
}
