public import Foundation
public import Logging

/// Writes a log line by line: for people, or as JSON.
public struct LineLogHandler: LogHandler {
  /// The least level that is written.
  public var logLevel = Logger.Level.info
  /// What each line says beside its message.
  public var metadata: Logger.Metadata = [:]
  /// Adds metadata to each line when it is logged.
  public var metadataProvider: Logger.MetadataProvider?

  private let label: String
  private let format: LogFormat
  private let hasColors: Bool
  private let now: @Sendable () -> Date
  private let write: @Sendable (String) -> Void

  /// - Parameters:
  ///   - label: The logger's name.
  ///   - format: How lines look.
  ///   - hasColors: Whether levels of lines for people are coloured, by ANSI escapes.
  ///   - metadataProvider: Adds metadata to each line, such as the names of trace and span.
  ///   - now: Tells the time.
  ///   - write: Takes a whole line, with its end.
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

  /// A part of ``metadata``.
  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { self.metadata[key] }
    set { self.metadata[key] = newValue }
  }

  /// Writes a line.
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

  /// Members of every line. Metadata of the same name gets another.
  private static let ownKeys: Set = ["time", "level", "logger", "message"]

  private func json(_ event: LogEvent, _ metadata: Logger.Metadata) -> String {
    let style = Date.ISO8601FormatStyle().time(includingFractionalSeconds: true)
      .year().month().day().timeZone(separator: .omitted)
    var json = JSONText()
    json.open()
    json.add("time", self.now().formatted(style))
    json.add("level", event.level.rawValue)
    json.add("logger", self.label)
    json.add("message", "\(event.message)")
    for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
      json.add(Self.ownKeys.contains(key) ? key + "_" : key, value)
    }
    json.close()
    return json.text + "\n"
  }
}

extension String {
  /// With control characters as escapes: a line is a line, and a terminal is not told what to do,
  /// whoever chose the words.
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
