/// A fault in a file of keys.
public struct KeySetError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file.
  public let file: String
  /// The fault. Contains nothing of a key but its ID.
  public let reason: String

  /// The file and the fault.
  public var description: String { "\(self.file): \(self.reason)" }

  init(_ file: String, _ reason: String) {
    self.file = file
    self.reason = reason
  }
}
