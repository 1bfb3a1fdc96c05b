/// A header of requests to the collector.
public struct OTLPHeader: Sendable, Hashable {
  /// The name, in lower case.
  public var name: String
  /// The value.
  public var value: String

  /// - Parameter name: The name in any case; it is sent in lower case.
  public init(name: String, value: String) {
    self.name = name.lowercased()
    self.value = value
  }
}
