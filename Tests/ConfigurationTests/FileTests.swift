import Foundation
import SidelightConfiguration
import Testing

@Suite struct FileTests {
  @Test(arguments: [
    "", "\n", "# nothing\n", "---\n", "null\n", "~", "limits:\n", "limits: {}\n",
    "studio:\n  hosts: []\n", "\u{FEFF}limits:\n",
  ])
  func `a file without settings changes nothing`(text: String) throws {
    try withFile(text) { path in #expect(errorMessages(["--config", path]) == []) }
  }

  @Test(arguments: [
    ("limits: {max-sessions: 3}", 3), ("limits.max-sessions: 4", 4),
    ("limits:\n  max-sessions: '5'", 5), ("{\"limits\": {\"max-sessions\": 6}}", 6),
    ("limits:\r\n  max-sessions: 7\r\n", 7),
    ("# &not *an alias\nlimits:\n  max-sessions: 8  # nor &this\n", 8),
    ("unix-socket: {mode: 0600}\nlimits: {max-sessions: 9}", 9),
  ])
  func `a file can have any form of YAML`(text: String, count: Int) throws {
    try withFile(text) { path in
      let settings = try Settings(commandLine: CommandLineSource(["--config", path]))
      #expect(settings.configuration.server.maxSessions == count)
    }
  }

  @Test(arguments: [
    ("- limits", ":1: expected settings: KEY: VALUE"),
    ("limits", ":1: expected settings: KEY: VALUE"),
    ("limits: 5", ":1: limits is a section; indent its settings below it"),
    ("limits: [5]", ":1: limits is a section; indent its settings below it"),
    ("limits:\n  max-sessions:\n", ":2: limits.max-sessions has no value"),
    (
      "limits:\n  max-sessions: [3]\n", ":2: limits.max-sessions is a list; expected one value"
    ),
    (
      "limits:\n  max-sessions: {a: 3}\n",
      ":2: limits.max-sessions is a section; expected a value"
    ),
    ("listen: [[1]]", ":1: listen is not a list of scalars"),
    ("listen: []", ":1: listen is empty; expected at least 1 value"),
    ("limits: {max-sessions: true}", ":1: limits.max-sessions is true; expected an integer"),
    ("maxsessions: 3", ":1: maxsessions is unknown; did you mean limits.max-sessions?"),
    ("max-sessions: 3", ":1: max-sessions is unknown; did you mean limits.max-sessions?"),
    ("limit:\n  max-sessions: 3", ":1: limit is unknown; did you mean limits?"),
    (
      "limits: {max-sessions: 3}\nlimits.max-sessions: 4",
      ":2: limits.max-sessions is set twice"
    ),
    (
      "limits:\n  max-load: 1\n  max-sessions: 3\n  max-sessions: 4\n",
      ":3: duplicate keys in one section: max-sessions"
    ),
    ("[1, 2]: 3", ":1: expected a scalar as key"),
    ("limits: {max-sessions: 3", ":2: invalid YAML: did not find expected ',' or '}'"),
    (
      "limits:\n\tmax-sessions: 3",
      ":2: invalid YAML: found character that cannot start any token"
    ),
    ("---\n---\n", ":2: invalid YAML: but found another document"),
    (
      "limits: &a {max-sessions: 3}",
      ":1: anchors and aliases (&, *) are not supported; quote the text if it is neither"
    ),
    (
      "limits:\n  max-sessions: *a",
      ":2: anchors and aliases (&, *) are not supported; quote the text if it is neither"
    ),
  ])
  func `an error in a file contains its line`(text: String, message: String) throws {
    try withFile(text) { path in #expect(errorMessages(["--config", path]) == [path + message]) }
  }

  @Test func `a file that grows when it is parsed is refused before parsing`() throws {
    // Nine levels of nine, the last as a key: 387 million nodes, all of which would be hashed.
    var bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    for level in 1 ... 8 {
      let below = Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ", ")
      bomb += "a\(level): &a\(level) [\(below)]\n"
    }
    bomb += "? *a8\n: 1\n"
    try withFile(bomb) { path in
      #expect(
        errorMessages(["--config", path])
          == [
            "\(path):1: anchors and aliases (&, *) are not supported; quote the text if it is "
              + "neither"
          ])
    }
  }

  @Test(arguments: ["[", "{a: ", "- ", "? "])
  func `deep nesting is an error`(bracket: String) throws {
    try withFile(String(repeating: bracket, count: 100_000)) { path in
      #expect(errorMessages(["--config", path]).count == 1)
    }
  }

  @Test func `bytes that are not UTF-8 are refused`() throws {
    for bytes in [Data([0x61, 0x3A, 0x20, 0xFF]), Data([0xFF, 0xFE, 0x61, 0x00])] {
      try withFile(bytes) { path in
        #expect(errorMessages(["--config", path]) == ["\(path) is not UTF-8"])
      }
    }
    try withFile(Data("limits:\u{0}\n".utf8)) { path in
      #expect(
        errorMessages(["--config", path])
          == ["\(path): invalid YAML: control characters are not allowed"])
    }
  }

  @Test func `a file that is too large is refused`() throws {
    try withFile(Data(repeating: UInt8(ascii: "#"), count: 1 << 20 + 1)) { path in
      #expect(errorMessages(["--config", path]) == ["\(path) is larger than the limit of 1 MiB"])
    }
    #expect(errorMessages(["--config", "/dev/zero"]) == ["/dev/zero is not a regular file"])
  }

  @Test func `a file that cannot be read is an error`() throws {
    let folder = FileManager.default.temporaryDirectory.path
    #expect(
      errorMessages(["--config", "\(folder)/none-of-that-name"])
        == ["\(folder)/none-of-that-name cannot be read: No such file or directory"])
    #expect(errorMessages(["--config", folder]) == ["\(folder) is not a regular file"])
    #expect(errorMessages(["--config"]) == ["--config has no value"])
    #expect(errorMessages(["--config="]) == ["--config has no value"])
  }
}
