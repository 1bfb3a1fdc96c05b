/// How a log line looks.
public enum LogFormat: String, Sendable, Hashable, CaseIterable {
  /// For people.
  case text
  /// One JSON object a line, for machines.
  case json
}
