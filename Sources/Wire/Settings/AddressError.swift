/// Why a text is no address.
public struct AddressError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The text.
  public let text: String
  /// What is wrong with it.
  public let reason: String

  /// The text, and what is wrong with it.
  public var description: String { "'\(self.text)' is no address: \(self.reason)" }
}
