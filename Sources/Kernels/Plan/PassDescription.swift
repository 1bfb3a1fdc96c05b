/// What one pass over a frame does, for traces, metrics and `sidelight check`.
public struct PassDescription: Sendable, Hashable {
  /// The kind of work.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Each pixel from itself.
    case pointwise
    /// Each pixel from a neighbourhood.
    case neighborhood
    /// Each pixel from another place.
    case warp
    /// Two pictures into one.
    case composite
    /// A user's function of the whole frame.
    case frame
    /// Between a file and a frame.
    case codec
  }

  /// The filters that the pass computes, joined by `+`; for a pass that serves a filter without
  /// being all of it, the same.
  public let name: String
  /// The filters that the pass computes, in order.
  public let filters: [String]
  /// The kind of work.
  public let kind: Kind
  /// What is done, in words.
  public let words: String

  /// Describes a pass; its name is made of its filters' names.
  public init(filters: [String], kind: Kind, words: String) {
    self.name = filters.joined(separator: "+")
    self.filters = filters
    self.kind = kind
    self.words = words
  }
}
