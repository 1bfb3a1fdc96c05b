/// Why a file is no asset.
struct AssetFileError: Error, CustomStringConvertible {
  /// The file.
  let path: String
  /// What is wrong with it, with the line of a table.
  let reason: String

  /// The file, and what is wrong with it.
  var description: String { "cannot use \(self.path): \(self.reason)" }
}
