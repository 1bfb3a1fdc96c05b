import Foundation

/// Calls `body` with the path of a temporary file.
func withFile<Result>(
  _ contents: String, _ body: (_ path: String) throws -> Result
) throws -> Result {
  try withFile(Data(contents.utf8), body)
}

/// Calls `body` with the path of a temporary file.
func withFile<Result>(_ contents: Data, _ body: (_ path: String) throws -> Result) throws -> Result
{
  let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).yaml")
  try contents.write(to: url)
  defer { try? FileManager.default.removeItem(at: url) }
  return try body(url.path)
}
