import ArgumentParser

/// An asset's name, and the file that it is in: `logo=images/logo.png`.
struct NamedFile: Sendable {
  let name: String
  let path: String

  /// - Throws: `ValidationError` for a text without name or path.
  init(argument: String) throws {
    guard let separator = argument.firstIndex(of: "="), separator > argument.startIndex,
      argument.index(after: separator) < argument.endIndex
    else { throw ValidationError("expected NAME=PATH") }
    self.name = String(argument[..<separator])
    self.path = String(argument[argument.index(after: separator)...])
  }
}
