public import Foundation
public import Logging
import Synchronization
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

/// Writes a JSON object, member by member.
struct JSONText {
  private(set) var text = ""
  private var isFirst = true

  mutating func open() { self.text += "{" }

  mutating func close() { self.text += "}" }

  mutating func add(_ key: String, _ value: String) {
    self.begin(key)
    self.text += Self.quoted(value)
  }

  mutating func add(_ key: String, _ value: Logger.MetadataValue) {
    self.begin(key)
    self.text += Self.encoded(value)
  }

  private mutating func begin(_ key: String) {
    if !self.isFirst { self.text += "," }
    self.isFirst = false
    self.text += Self.quoted(key) + ":"
  }

  private static func encoded(_ value: Logger.MetadataValue) -> String {
    switch value {
    case .string(let value): return self.quoted(value)
    case .stringConvertible(let value): return self.quoted("\(value)")
    case .array(let values): return "[\(values.map(self.encoded).joined(separator: ","))]"
    case .dictionary(let members):
      var json = Self()
      json.open()
      for (key, value) in members.sorted(by: { $0.key < $1.key }) { json.add(key, value) }
      json.close()
      return json.text
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

/// A minimum log level that several loggers share and that can change at run time.
public final class SharedLogLevel: Sendable {
  /// Another level for some entries, or for all.
  private struct Exception {
    /// An element of the metadata of the entries' loggers; `nil` for all entries.
    var element: (key: String, value: String)?
    var level: Logger.Level
    var end: ContinuousClock.Instant
  }

  private static let maxExceptions = 64

  private let state: Mutex<(level: Logger.Level, exceptions: [Exception])>

  /// - Parameter level: The initial level.
  public init(_ level: Logger.Level) {
    self.state = Mutex((level, []))
  }

  /// The level. A change applies from the next entry.
  public var level: Logger.Level {
    get { self.state.withLock(\.level) }
    set { self.state.withLock { $0.level = newValue } }
  }

  /// Sets the level of some entries for a time. A newer level for the same entries replaces it, and the
  /// oldest of more than 64 ends.
  ///
  /// - Parameters:
  ///   - key: The key of an element of the loggers' metadata; `nil` for all entries.
  ///   - value: The element's value.
  public func set(
    _ level: Logger.Level, where key: String?, is value: String, for duration: Duration
  ) {
    let exception = Exception(
      element: key.map { ($0, value) }, level: level, end: .now + duration)
    self.state.withLock { state in
      state.exceptions.removeAll { $0.element?.key == key && $0.element?.value ?? "" == value }
      state.exceptions = state.exceptions.suffix(Self.maxExceptions - 1) + [exception]
    }
  }

  /// The level of entries of a logger: the newest one that was set for them, or for all.
  func level(for metadata: @autoclosure () -> Logger.Metadata) -> Logger.Level {
    self.state.withLock { state in
      guard !state.exceptions.isEmpty else { return state.level }
      let now = ContinuousClock.now
      state.exceptions.removeAll { $0.end <= now }
      let metadata = metadata()
      let exception = state.exceptions.last { exception in
        exception.element.map { metadata[$0.key] == .string($0.value) } ?? true
      }
      return exception?.level ?? state.level
    }
  }
}

/// A log handler whose level is a ``SharedLogLevel``, unless a logger sets its own.
public struct SharedLevelLogHandler<Base: LogHandler>: LogHandler {
  private var base: Base
  private var own: Logger.Level?
  private let shared: SharedLogLevel

  /// - Parameters:
  ///   - base: The handler that writes the entries.
  ///   - level: The shared minimum level.
  public init(_ base: Base, level: SharedLogLevel) {
    self.base = base
    self.shared = level
  }

  /// The minimum level of entries.
  public var logLevel: Logger.Level {
    get { self.own ?? self.shared.level(for: self.base.metadata) }
    set { self.own = newValue }
  }

  /// The metadata of all entries.
  public var metadata: Logger.Metadata {
    get { self.base.metadata }
    set { self.base.metadata = newValue }
  }

  /// The provider of additional metadata for all entries.
  public var metadataProvider: Logger.MetadataProvider? {
    get { self.base.metadataProvider }
    set { self.base.metadataProvider = newValue }
  }

  /// An element of ``metadata``.
  public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { self.base[metadataKey: key] }
    set { self.base[metadataKey: key] = newValue }
  }

  /// Writes an entry.
  public func log(event: LogEvent) { self.base.log(event: event) }
}
