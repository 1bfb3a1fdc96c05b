/// What a caller may be allowed to do. Which method needs which is `MethodAccess`'s table.
public enum Scope: String, Sendable, Hashable, CaseIterable, Comparable {
  /// Filter: sessions, still images, pipelines to check.
  case stream
  /// Put, list and delete assets of one's own.
  case assets
  /// See everybody's sessions, and force pipelines on them.
  case operate
  /// Ask what the server is: its limits, its filters, its contract.
  case introspect

  /// By their names.
  public static func < (left: Scope, right: Scope) -> Bool { left.rawValue < right.rawValue }
}

extension Set<Scope> {
  /// What a participant of a call needs.
  public static let participant: Set<Scope> = [.stream, .assets, .introspect]
  /// Everything.
  public static let all = Set(Scope.allCases)
}
