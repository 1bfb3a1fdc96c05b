import SidelightConfiguration
import Testing

@Suite struct PermissionSettingTests {
  private static let guests =
    "participants=guest*+Ana%20Maria filters=sepiaTone+background* "
    + "parameters=pixellate.scale:8...64"
  private static let operators = "scopes=operate filters=*"

  private static func rules(_ settings: Settings) -> [PermissionRule] {
    settings.configuration.server.permissions
  }

  @Test func `a rule is read from its text`() throws {
    let rule = try PermissionRule(Self.guests)
    #expect(rule.participants.map(\.text) == ["guest*", "Ana Maria"])
    #expect(rule.callers.isEmpty && rule.scopes.isEmpty)
    #expect(rule.filters.entries == ["sepiaTone", "background*"])
    #expect(rule.parameters.map(\.description) == ["pixellate.scale:8...64"])
    let other = try PermissionRule("callers=unix:uid=1000+cert:* scopes=stream+operate filters=")
    #expect(other.callers.map(\.text) == ["unix:uid=1000", "cert:*"])
    #expect(other.scopes == [.stream, .operate] && other.filters.entries.isEmpty)
    let ranges = try PermissionRule("parameters=pixellate.scale:8...")
    #expect(ranges.filters.entries == ["*"])
  }

  @Test(arguments: [
    Self.guests, Self.operators, "filters=", "callers=a%2Bb%2C%25%20c=d filters=x",
    "callers=%E6%9D%B1 filters=*", "parameters=a.b:...0.5+c.d:1e-3...2",
  ])
  func `the text of a rule is read as the same rule`(text: String) throws {
    let rule = try PermissionRule(text)
    #expect(try PermissionRule(rule.description) == rule)
    #expect(!rule.description.contains(","), "a variable separates rules with commas")
  }

  @Test func `flags, variables and files set the same rules`() throws {
    let texts = [Self.guests, Self.operators]
    let expected = try texts.map { text throws in try PermissionRule(text) }
    let flags = texts.flatMap { ["--permit", $0] }
    #expect(Self.rules(try Settings(commandLine: CommandLineSource(flags))) == expected)
    let variable = texts.joined(separator: ", ")
    #expect(Self.rules(try Settings(environment: ["SIDELIGHT_PERMISSIONS": variable])) == expected)
    for file in [
      """
      permissions:
        - participants: [guest*, Ana Maria]
          filters: [sepiaTone, background*]
          parameters: {pixellate.scale: 8...64}
        - scopes: operate
          filters: "*"
      """,
      """
      permissions:
        - participants:
            - guest*
            - Ana Maria
          filters:
            - sepiaTone
            - background*
          parameters:
            - pixellate.scale:8...64
        - {scopes: [operate], filters: ["*"]}
      """,
      "permissions: [\"\(texts[0])\", \"\(texts[1])\"]",
    ] {
      try withFile(file) { path in
        let settings = try Settings(commandLine: CommandLineSource(["--config", path]))
        #expect(Self.rules(settings) == expected)
      }
    }
  }

  @Test func `printed rules are read again`() throws {
    let arguments = ["--permit", Self.guests, "--permit=filters=", "--permit", Self.operators]
    let settings = try Settings(commandLine: CommandLineSource(arguments))
    #expect(Self.rules(settings).count == 3)
    try withFile(settings.yaml) { path in
      let again = try Settings(commandLine: CommandLineSource(["--config", path]))
      #expect(Self.rules(again) == Self.rules(settings))
    }
  }

  private static let form =
    "expected FIELD=VALUE+VALUE, separated by spaces, of callers, participants, scopes, filters, "
    + "parameters"

  private static let errors: [(text: String, error: String)] = [
    ("sepiaTone", "is sepiaTone; \(Self.form)"),
    (
      "filter=sepiaTone",
      "is \"filter=sepiaTone\"; filter is unknown; expected one of callers, participants, scopes, "
        + "filters, parameters; did you mean filters?"
    ),
    (
      "filters=a filters=b",
      "is \"filters=a filters=b\"; expected each field once; filters is set twice"
    ),
    (
      "participants=a",
      "is \"participants=a\"; filters is missing; expected a list of filters, or * for all"
    ),
    (
      "participants= filters=a",
      "is \"participants= filters=a\"; participants is empty; expected at least one value; leave "
        + "it out to match all"
    ),
    (
      "scopes=stroam filters=a",
      "is \"scopes=stroam filters=a\"; scopes is stroam; expected stream, assets, operate, "
        + "introspect"
    ),
    (
      "filters=a*b",
      "is \"filters=a*b\"; filters[0] is invalid: it is \"a*b\"; a * is valid only at the end of a "
        + "name; expected a name, or a prefix that ends in *"
    ),
    (
      "parameters=pixellate.scale:64...8",
      "is \"parameters=pixellate.scale:64...8\"; parameters is pixellate.scale:64...8; expected "
        + "FILTER.PARAMETER:MINIMUM...MAXIMUM, one of both optional"
    ),
    (
      "callers=%2 filters=a",
      "is \"callers=%2 filters=a\"; expected values in which two hexadecimal digits follow each %"
    ),
  ]

  @Test(arguments: Self.errors)
  func `an invalid rule is reported with its value and the expectation`(
    text: String, error: String
  ) {
    #expect(errorMessages(["--permit", text]) == ["--permit \(error)"])
    #expect(
      errorMessages(environment: ["SIDELIGHT_PERMISSIONS": text])
        == ["SIDELIGHT_PERMISSIONS \(error)"])
  }

  private static let fileErrors: [(text: String, error: String)] = [
    (
      "permissions: [{participants: [a]}]",
      ":1: permissions[0]: filters is missing; expected a list of filters, or * for all"
    ),
    (
      "permissions:\n- filters: [a]\n  callers: [[a]]\n",
      ":3: permissions[0].callers is not a list of scalars"
    ),
    (
      "permissions:\n- filters: {a: b}\n", ":2: permissions[0].filters is not a list of scalars"
    ),
    ("permissions:\n- filters:\n", ":2: permissions[0].filters has no value"),
    (
      "permissions:\n- filters: [a]\n  participant: [b]\n",
      ":3: \"permissions[0].participant\" is unknown; did you mean participants?"
    ),
    (
      "permissions:\n- parameters: {pixellate.scale: {a: 1}}\n",
      ":2: permissions[0].parameters is not a list of scalars"
    ),
  ]

  @Test(arguments: Self.fileErrors)
  func `an error in a file names the rule and its line`(text: String, error: String) throws {
    try withFile(text) { path in #expect(errorMessages(["--config", path]) == [path + error]) }
  }

  @Test func `changed rules and quotas of participants apply on reload`() throws {
    let settings = try Settings(
      commandLine: CommandLineSource([
        "--permit", Self.operators, "--participant-frames-per-second", "30",
        "--participant-bytes-per-second=1e6", "--max-sessions-per-participant", "2",
      ]))
    let reload = Settings.defaults.reloading(settings)
    #expect(reload.awaitingRestart.isEmpty && reload.applied.count == 4)
    let server = reload.settings.configuration.server
    #expect(server.permissions.count == 1)
    #expect(server.quotas.participant.framesPerSecond == 30)
    #expect(server.quotas.participant.bytesPerSecond == 1_000_000)
    #expect(server.quotas.participant.sessions == 2)
    #expect(server.quotas.framesPerSecond == nil && server.quotas.sessions == 256)
  }
}
