/// The format of log lines.
public enum LogFormat: String, Sendable, Hashable, CaseIterable {
  /// Human-readable text.
  case text
  /// One JSON object per line.
  case json
}
