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
