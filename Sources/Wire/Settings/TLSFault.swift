/// What is wrong with a certificate, a key, or what is said of them.
public struct TLSFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file.
  public let file: String
  /// What is wrong, in words; nothing of a key's contents.
  public let reason: String

  /// File and reason.
  public var description: String { "\(self.file): \(self.reason)" }

  init(_ file: String, _ reason: String) {
    self.file = file
    self.reason = reason
  }
}
