import Foundation
import Logging

extension LineLogHandler {
  /// Returns a handler that writes to standard error with one call per line, so that lines of
  /// several threads do not mix.
  ///
  /// - Parameter format: The format of lines. `nil`: text on a terminal, else JSON.
  public static func standardError(label: String, format: LogFormat? = nil) -> LineLogHandler {
    let isTerminal = isatty(STDERR_FILENO) == 1
    return LineLogHandler(
      label: label, format: format ?? (isTerminal ? .text : .json), hasColors: isTerminal
    ) { line in
      // A failure, such as a closed pipe, cannot be reported anywhere.
      try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
    }
  }
}
