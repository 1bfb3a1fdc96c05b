public import SidelightKernels

/// An authenticated caller and its scopes.
public struct Principal: Sendable, Hashable {
  /// The unique name of the caller for limits, asset ownership, logs and operators:
  /// `sub:alice@https://id.example`, `cert:dns:camera-7.example`, `unix:uid=1000`.
  public var name: String
  /// The scopes of the caller.
  public var scopes: Set<Scope>
  /// The time since 1970 at which the credentials expire, leeway included. Calls that last until
  /// then are ended. `nil` disables expiry.
  public var expires: Duration?
  /// The filters that the credentials permit, in addition to the rules of the configuration. `nil`
  /// permits all.
  public var filters: FilterNameList?

  /// - Parameters:
  ///   - name: The unique name of the caller.
  ///   - scopes: The scopes of the caller.
  ///   - expires: The time since 1970 at which the credentials expire. `nil` disables expiry.
  ///   - filters: The filters that the credentials permit. `nil` permits all.
  public init(
    name: String, scopes: Set<Scope>, expires: Duration? = nil, filters: FilterNameList? = nil
  ) {
    self.name = name
    self.scopes = scopes
    self.expires = expires
    self.filters = filters
  }
}

/// A permission of a caller. `MethodAccess` has the scopes that methods require.
public enum Scope: String, Sendable, Hashable, CaseIterable, Comparable {
  /// Filter video and still images, and check pipelines.
  case stream
  /// Put, list and delete the caller's assets.
  case assets
  /// List the sessions of all callers, and override their pipelines.
  case operate
  /// Read the capabilities of the server: its limits, filters and contract.
  case introspect

  /// Compares scopes by name.
  public static func < (left: Scope, right: Scope) -> Bool { left.rawValue < right.rawValue }
}

extension Set<Scope> {
  /// The scopes of a participant, which uses the server without operating it.
  public static let participant: Set<Scope> = [.stream, .assets, .introspect]
  /// All scopes.
  public static let all = Set(Scope.allCases)
}
