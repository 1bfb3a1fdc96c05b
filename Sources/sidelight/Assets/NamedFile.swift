import ArgumentParser

/// The name and the file of an asset: `logo=images/logo.png`.
struct NamedFile: Sendable {
  let name: String
  let path: String

  /// Parses an argument.
  ///
  /// - Throws: `ValidationError` if the name or the path is missing.
  init(argument: String) throws {
    guard let separator = argument.firstIndex(of: "="), separator > argument.startIndex,
      argument.index(after: separator) < argument.endIndex
    else { throw ValidationError("expected NAME=PATH") }
    self.name = String(argument[..<separator])
    self.path = String(argument[argument.index(after: separator)...])
  }
}
