/// Why a file is no `.cube` table.
public struct CubeFileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The line at fault, from 1; 0 if it is the file as a whole.
  public let line: Int
  /// What is wrong, with the figures, in one sentence.
  public let message: String

  /// - Parameters:
  ///   - line: From 1; 0 for the file as a whole.
  ///   - message: One sentence.
  public init(line: Int, message: String) {
    self.line = line
    self.message = message
  }

  /// The line, if there is one, and the message.
  public var description: String {
    self.line == 0 ? self.message : "line \(self.line): \(self.message)"
  }
}
