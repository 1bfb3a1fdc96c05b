import SidelightConfiguration
import Testing

@Suite struct BadValueTests {
  @Test(arguments: [
    (["--max-sessions", "0"], "--max-sessions is 0; the range is 1 to 65536"),
    (["--max-sessions", "-1"], "--max-sessions is -1; the range is 1 to 65536"),
    (
      ["--max-sessions", "99999999999999999999"],
      "--max-sessions is 99999999999999999999; the range is 1 to 65536"
    ),
    (["--max-sessions", "ten"], "--max-sessions is ten; expected an integer"),
    (["--max-sessions", "1.5"], "--max-sessions is 1.5; expected an integer"),
    (["--max-sessions="], "--max-sessions is \"\"; expected a value"),
    (["--max-sessions"], "--max-sessions has no value"),
    (["--max-sessions", "--shared-memory"], "--max-sessions has no value"),
    (["--max-load", "nan"], "--max-load is nan; expected a number"),
    (
      ["--max-load", "inf"],
      "--max-load is inf; the range is 0.01 to 1000, or 0: no limit"
    ),
    (
      ["--max-message-bytes", "64MB"],
      "--max-message-bytes is 64MB; expected a size such as 512KiB, 64MiB or 2GiB"
    ),
    (
      ["--max-message-bytes", "9999999999GiB"],
      "--max-message-bytes is 9999999999GiB; expected a size such as 512KiB, 64MiB or 2GiB"
    ),
    (["--max-message-bytes", "2GiB"], "--max-message-bytes is 2GiB; the range is 64KiB to 1GiB"),
    (
      ["--release-memory-after", "soon"],
      "--release-memory-after is soon; expected a duration such as 500ms, 10s, 5min or 1h"
    ),
    (
      ["--release-memory-after", "1ms"],
      "--release-memory-after is 1ms; the range is 1s to 24h, or 0: never"
    ),
    (
      ["--shutdown-grace", "1e300"],
      "--shutdown-grace is 1e300; expected a duration such as 500ms, 10s, 5min or 1h"
    ),
    (
      ["--profile", "latencey"],
      "--profile is latencey; expected latency or throughput; did you mean latency?"
    ),
    (["--shared-memory=maybe"], "--shared-memory is maybe; expected true or false"),
    (["--unix-socket-mode", "888"], "--unix-socket-mode is 888; the range is 0 to 777, in octal"),
    (
      ["-l", "nowhere"],
      "-l is nowhere; expected HOST:PORT or unix:PATH"
    ),
    (["--listen", "unix:"], "--listen is unix:; the path is missing"),
    (
      ["--fleet-etcd", "etcd:2379"],
      "--fleet-etcd is etcd:2379; expected http://HOST:PORT/PREFIX, or https, without user and "
        + "password"
    ),
    (
      ["--fleet-etcd", "http://etcd/one/two"],
      "--fleet-etcd is http://etcd/one/two; expected http://HOST:PORT/PREFIX, or https, without "
        + "user and password"
    ),
    (["serve"], "serve is unexpected; sidelight serve takes only flags"),
    (["--max-sesions", "3"], "--max-sesions is unknown; did you mean --max-sessions?"),
    (
      ["--limits-max-sessions", "3"],
      "--limits-max-sessions is unknown; did you mean --max-sessions?"
    ),
    (["--print-config=xml"], "--print-config is xml; expected table or yaml"),
    (["--zzzzzzzzzzzz"], "--zzzzzzzzzzzz is unknown"),
  ])
  func `the error of an invalid flag contains its value and the expectation`(
    arguments: [String], message: String
  ) {
    #expect(errorMessages(arguments) == [message])
  }

  @Test(arguments: [
    ("SIDELIGHT_LIMITS_MAX_SESSIONS", "0", "is 0; the range is 1 to 65536"),
    ("SIDELIGHT_LIMITS_MAX_SESSIONS", "", "is \"\"; expected a value"),
    (
      "SIDELIGHT_LIMITS_MAX_SESIONS", "1", "is unknown; did you mean SIDELIGHT_LIMITS_MAX_SESSIONS?"
    ),
    ("SIDELIGHT_MAX_SESSIONS", "1", "is unknown; did you mean SIDELIGHT_LIMITS_MAX_SESSIONS?"),
    ("SIDELIGHT_", "1", "is unknown"),
    (
      "SIDELIGHT_LOG_LEVEL", "warn\u{1B}[31m",
      "is \"warn\\u{1B}[31m\"; expected trace, debug, info, notice, warning, error or critical"
    ),
  ])
  func `the error of an invalid variable contains its value and the expectation`(
    name: String, value: String, message: String
  ) {
    #expect(errorMessages(environment: [name: value]) == ["\(name) \(message)"])
  }

  @Test(arguments: [
    "PATH", "OTEL_SERVICE_NAME", "SIDELIGHT_ISA", "SIDELIGHT_BINARY", "SIDELIGHT_TEST_MEDIA",
    "SIDELIGHT_SERVICE_HOST", "SIDELIGHT_SERVICE_PORT", "SIDELIGHT_SERVICE_PORT_GRPC",
    "SIDELIGHT_PORT", "SIDELIGHT_PORT_50051_TCP", "SIDELIGHT_PORT_50051_TCP_ADDR",
    "SIDELIGHT_HEADLESS_SERVICE_HOST",
  ])
  func `variables of other programs are ignored`(name: String) {
    #expect(errorMessages(environment: [name: "whatever"]) == [])
  }

  @Test func `all errors of all sources are reported at once, also of overridden values`()
    throws
  {
    try withFile("limits:\n  max-sessions: 0\n  max-lod: 1\nguards: {pings-per-second: many}\n") {
      path in
      let messages = errorMessages(
        ["--config", path, "--max-sessions", "5", "--what"],
        environment: ["SIDELIGHT_LOG_LEVEL": "loud", "SIDELIGHT_X": "1"])
      #expect(
        messages == [
          "--what is unknown",
          "SIDELIGHT_X is unknown",
          "\(path):3: limits.max-lod is unknown; did you mean limits.max-load?",
          "SIDELIGHT_LOG_LEVEL is loud; expected trace, debug, info, notice, warning, error or "
            + "critical",
          "\(path):2: limits.max-sessions is 0; the range is 1 to 65536",
          "\(path):4: guards.pings-per-second is many; expected an integer",
        ])
    }
  }

  @Test func `an error message truncates a long value or name`() {
    let text = String(repeating: "9", count: 100_000)
    let messages = errorMessages(["--max-sessions", text, "--\(text)"])
    #expect(messages.count == 2 && messages.allSatisfy { $0.count < 400 })
  }

  @Test func `a secret has no flag, and no error message contains it`() throws {
    #expect(
      errorMessages(["--resume-keys", "a:b"])
        == [
          "--resume-keys is not a flag, since other users can see a process's arguments; set "
            + "resume.keys in a file, or SIDELIGHT_RESUME_KEYS"
        ])
    for text in ["hunter2", "a:aHVudGVyMg==", ":x"] {
      let messages = errorMessages(environment: ["SIDELIGHT_RESUME_KEYS": text])
      #expect(messages.count == 1)
      #expect(
        messages.allSatisfy { $0.hasPrefix("SIDELIGHT_RESUME_KEYS is <redacted>; expected ") })
      try withFile("# keys\n\n\(text)\n") { path in
        let messages = errorMessages(["--resume-keys-file", path])
        #expect(messages.count == 1 && messages[0].contains("\(path); line 3: "))
        #expect(!messages.joined().contains("hunter2") && !messages.joined().contains("aHVu"))
      }
    }
  }
}
