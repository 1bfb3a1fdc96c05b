import Logging
import SidelightTelemetry
import Synchronization
import Testing

@Suite struct SharedLogLevelTests {
  @Test func `a change of the level applies to existing loggers, and to their copies`() {
    let lines = Mutex<[String]>([])
    let level = SharedLogLevel(.info)
    let logger = Logger(label: "test") { label in
      SharedLevelLogHandler(
        LineLogHandler(
          label: label, format: .json, write: { line in lines.withLock { $0.append(line) } }),
        level: level)
    }
    var copy = logger
    copy[metadataKey: "session"] = "7"
    var verbose = logger
    verbose.logLevel = .debug

    copy.debug("one")
    level.level = .debug
    copy.debug("two")
    level.level = .error
    copy.info("three")
    logger.info("four")
    verbose.debug("five")
    let said = lines.withLock(\.self)
    #expect(said.count == 2)
    #expect(said.first?.contains("two") == true && said.first?.contains("\"session\"") == true)
    #expect(said.last?.contains("five") == true)
  }
}
