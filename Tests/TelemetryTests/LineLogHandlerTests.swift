import Foundation
import Logging
import SidelightTelemetry
import Synchronization
import Testing
import Tracing

@Suite struct LineLogHandlerTests {
  /// Logs in a format, and returns the lines.
  static func lines(_ format: LogFormat, _ body: (inout Logger) -> Void) -> [String] {
    let text = Lines()
    var logger = Logger(label: "test") { label in
      LineLogHandler(label: label, format: format, now: { Date(timeIntervalSince1970: 1.5) }) {
        text.write($0)
      }
    }
    body(&logger)
    return text.all
  }

  static func object(_ line: String) throws -> [String: String] {
    try #require(
      JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String], "\(line)")
  }

  @Test func `a JSON line contains time, level, logger, message and metadata`() throws {
    let lines = Self.lines(.json) { logger in
      logger[metadataKey: "session"] = "abc"
      logger.warning("it is \"late\"", metadata: ["peer": "ipv4:1", "time": "mine"])
    }
    #expect(lines.count == 1)
    #expect(lines[0].hasSuffix("}\n"))
    #expect(
      try Self.object(lines[0]) == [
        "time": "1970-01-01T00:00:01.500Z", "level": "warning", "logger": "test",
        "message": "it is \"late\"", "session": "abc", "peer": "ipv4:1", "time_": "mine",
      ])
  }

  @Test func `metadata arrays and dictionaries become JSON arrays and objects`() throws {
    let lines = Self.lines(.json) { logger in
      logger.info("x", metadata: ["list": ["a", ["b": "c"]]])
    }
    #expect(lines[0].contains("\"list\":[\"a\",{\"b\":\"c\"}]"))
  }

  @Test(
    arguments: ["a\nb", "a\r\nb", "\u{1B}[31mred", "\u{0}", "\u{2028}", "\u{85}", "\u{7F}", "😀é"])
  func `a log entry is one line, whatever its text contains`(message: String) throws {
    let json = Self.lines(.json) { $0.info("\(message)") }
    #expect(json.count == 1)
    #expect(json[0].dropLast().utf8.allSatisfy { $0 >= 0x20 })
    #expect(try Self.object(json[0])["message"] == message)
    let text = Self.lines(.text) { $0.info("\(message)", metadata: ["label": "\(message)"]) }
    #expect(text[0].dropLast().unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
    #expect(text[0].filter(\.isNewline).count == 1)
    if message == "😀é" { #expect(text[0].contains("😀é label=😀é\n")) }
  }

  @Test func `log entries within a span contain its trace and span IDs`() throws {
    let tracer = OTLPTracer(sampler: .always, queue: SpanQueue(capacity: 1, batchSize: 1))
    let span = tracer.startSpan("root", context: .topLevel)
    let lines = Self.lines(.json) { logger in
      ServiceContext.withValue(span.context) { logger.info("within") }
      logger.info("without")
    }
    let within = try Self.object(lines[0])
    #expect(within["trace_id"] == "\(span.spanContext.traceID)")
    #expect(within["span_id"] == "\(span.spanContext.spanID)")
    #expect(try Self.object(lines[1])["trace_id"] == nil)
  }

  @Test func `errors are logged`() throws {
    struct Broken: Error {}
    let lines = Self.lines(.json) { $0.error("it broke", error: Broken()) }
    #expect(try Self.object(lines[0])["error"] == "Broken()")
  }
}

/// Collects written lines.
private final class Lines: Sendable {
  private let lines = Mutex<[String]>([])

  var all: [String] { self.lines.withLock { $0 } }

  func write(_ line: String) {
    self.lines.withLock { $0.append(line) }
  }
}
