public import Foundation
public import Logging
import Tracing

/// A log handler that writes one line per entry, as text or as JSON.
public struct LineLogHandler: LogHandler {
  /// The minimum level of entries.
  public var logLevel = Logger.Level.info
  /// The metadata of all entries.
  public var metadata: Logger.Metadata = [:]
  /// The provider of additional metadata for all entries.
  public var metadataProvider: Logger.MetadataProvider?

  private let label: String
  private let format: LogFormat
  private let hasColors: Bool
  private let now: @Sendable () -> Date
  private let write: @Sendable (String) -> Void

  /// - Parameters:
  ///   - label: The logger's name.
  ///   - format: The format of lines.
  ///   - hasColors: Whether to colour levels in the text format, with ANSI escapes.
  ///   - metadataProvider: The provider of additional metadata, such as the IDs of trace and span.
  ///   - now: Returns the current time.
  ///   - write: Writes a line, which includes its line break.
  public init(
    label: String, format: LogFormat, hasColors: Bool = false,
    metadataProvider: Logger.MetadataProvider? = .traceContext,
    now: @escaping @Sendable () -> Date = { Date() }, write: @escaping @Sendable (String) -> Void
  ) {
    self.label = label
    self.format = format
    self.hasColors = hasColors
    self.metadataProvider = metadataProvider
    self.now = now
    self.write = write
  }

  /// An element of ``metadata``.
  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { self.metadata[key] }
    set { self.metadata[key] = newValue }
  }

  /// Writes an entry.
  public func log(event: LogEvent) {
    var metadata = self.metadata
    if let provider = self.metadataProvider {
      metadata.merge(provider.get()) { _, provided in provided }
    }
    if let explicit = event.metadata { metadata.merge(explicit) { _, explicit in explicit } }
    if let error = event.error { metadata["error"] = "\(error)" }
    switch self.format {
    case .text: self.write(self.text(event, metadata))
    case .json: self.write(self.json(event, metadata))
    }
  }

  private func text(_ event: LogEvent, _ metadata: Logger.Metadata) -> String {
    let style = Date.ISO8601FormatStyle(timeZone: .current)
      .time(includingFractionalSeconds: true)
    let level = event.level.rawValue.padding(toLength: 8, withPad: " ", startingAt: 0)
    var words = "\(event.message)"
    for (key, value) in metadata.sorted(by: { $0.key < $1.key }) { words += " \(key)=\(value)" }
    return "\(self.now().formatted(style)) \(self.colored(level, event.level)) "
      + words.withoutControls + "\n"
  }

  private func colored(_ text: String, _ level: Logger.Level) -> String {
    guard self.hasColors else { return text }
    let code =
      switch level {
      case .trace, .debug: 90
      case .info: 32
      case .notice: 36
      case .warning: 33
      case .error, .critical: 31
      }
    return "\u{1B}[\(code)m\(text)\u{1B}[0m"
  }

  /// The members of every JSON line. Metadata with such a key is renamed.
  private static let ownKeys: Set = ["time", "level", "logger", "message"]

  private func json(_ event: LogEvent, _ metadata: Logger.Metadata) -> String {
    let style = Date.ISO8601FormatStyle().time(includingFractionalSeconds: true)
      .year().month().day().timeZone(separator: .omitted)
    let members: [(String, Logger.MetadataValue)] = [
      ("time", "\(self.now().formatted(style))"), ("level", "\(event.level.rawValue)"),
      ("logger", "\(self.label)"), ("message", "\(event.message)"),
    ]
    let others = metadata.sorted { $0.key < $1.key }.map { key, value in
      (Self.ownKeys.contains(key) ? key + "_" : key, value)
    }
    return JSONText.object(members + others) + "\n"
  }
}

extension String {
  /// The text with control characters escaped, which prevents callers from breaking lines or
  /// controlling a terminal.
  fileprivate var withoutControls: String {
    var text = ""
    for scalar in self.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator:
        text += scalar.escaped(asASCII: true)
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}

extension LineLogHandler {
  /// Returns a handler that writes to standard error with one call per line, which keeps lines of
  /// several threads apart.
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

extension Logger.MetadataProvider {
  /// Adds `trace_id` and `span_id` to entries that are logged within a span of ``OTLPTracer``.
  public static let traceContext = Logger.MetadataProvider {
    guard let span = ServiceContext.current?.spanContext else { return [:] }
    return ["trace_id": "\(span.traceID)", "span_id": "\(span.spanID)"]
  }
}

/// The format of log lines.
public enum LogFormat: String, Sendable, Hashable, CaseIterable {
  /// Human-readable text.
  case text
  /// One JSON object per line.
  case json
}

/// Texts in JSON.
private enum JSONText {
  /// Returns an object with members in this order.
  static func object(_ members: [(String, Logger.MetadataValue)]) -> String {
    "{\(members.map { "\(self.quoted($0)):\(self.encoded($1))" }.joined(separator: ","))}"
  }

  private static func encoded(_ value: Logger.MetadataValue) -> String {
    switch value {
    case .string(let value): self.quoted(value)
    case .stringConvertible(let value): self.quoted("\(value)")
    case .array(let values): "[\(values.map(self.encoded).joined(separator: ","))]"
    case .dictionary(let members): self.object(members.sorted { $0.key < $1.key }.map { ($0, $1) })
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
