/// The reason why a file cannot be used as an asset.
struct AssetFileError: Error, CustomStringConvertible {
  /// The path of the file.
  let path: String
  /// The fault, with the line in a table.
  let reason: String

  /// The path and the reason.
  var description: String { "cannot use \(self.path): \(self.reason)" }
}
