/// Why there is no plan: it would hold too much memory.
public struct PlanRefusal: Sendable, Hashable {
  /// What it would hold, at least; in bytes.
  public let byteCount: Int
  /// What it may hold; in bytes.
  public let limit: Int
  /// Whether that is what other plans have left of what all may hold together, rather than what one may.
  public let isShared: Bool
}
