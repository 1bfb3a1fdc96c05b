import Foundation
import Logging

extension LineLogHandler {
  /// A handler that writes to standard error, one call a line, so that lines of several threads do not
  /// mix.
  ///
  /// - Parameter format: How lines look; `nil`: for people on a terminal, else as JSON.
  public static func standardError(label: String, format: LogFormat? = nil) -> LineLogHandler {
    let isTerminal = isatty(STDERR_FILENO) == 1
    return LineLogHandler(
      label: label, format: format ?? (isTerminal ? .text : .json), hasColors: isTerminal
    ) { line in
      // What nobody reads any more is lost; there is nowhere to say so.
      try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
    }
  }
}
