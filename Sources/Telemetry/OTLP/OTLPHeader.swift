/// A header of requests to the collector.
public struct OTLPHeader: Sendable, Hashable {
  /// In lower case.
  public var name: String
  /// As it is sent.
  public var value: String

  /// - Parameter name: In any case; it is sent in lower case.
  public init(name: String, value: String) {
    self.name = name.lowercased()
    self.value = value
  }
}
