import ArgumentParser
import Foundation
import GRPCCore
import SidelightClient
import SidelightWire
import SwiftProtobuf

/// `sidelight sessions`: shows the open sessions of a server, and changes them.
struct Sessions: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List, override, move and close the sessions of a server.",
    discussion: """
      For operators: a server that authenticates callers requires a token with the scope 'operate'.

        sidelight sessions list --server 127.0.0.1:50051 --watch
        sidelight sessions override 1f0c --server 127.0.0.1:50051 --for 600 --pipeline faceBlur
        sidelight sessions move 1f0c --server 127.0.0.1:50051 --to 10.0.0.2:50051
      """,
    subcommands: [
      SessionsList.self, SessionsOverride.self, SessionsMove.self, SessionsClose.self,
    ])
}

/// The server of the subcommands, and the way to it.
struct OperatorOptions: ParsableArguments {
  @OptionGroup var address: AssetServerOption

  @OptionGroup(title: "Security") var connection: ConnectionOptions

  /// Runs a closure with the service for operators.
  func withService<Result: Sendable>(
    _ body: @Sendable (SessionsServiceClient, CallOptions) async throws -> Result
  ) async throws -> Result {
    try await SidelightClient.connect(
      to: self.address.server, security: self.connection.security
    ) { client in
      try await client.withSessionsService(body)
    }
  }
}

/// `sidelight sessions list`: lists the open sessions.
struct SessionsList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the open sessions, one per line.",
    discussion: """
      A line has the session's name, label, participant and caller, its state, the size of its last \
      frame, its age in seconds, the frames received and dropped, and its pipeline.
      """)

  @OptionGroup var server: OperatorOptions

  @Option(help: ArgumentHelp("Only sessions with this label.", valueName: "text"))
  var label = ""

  @Option(help: ArgumentHelp("Only sessions of this participant.", valueName: "name"))
  var participant = ""

  @Flag(help: "List them again every second, with an empty line in front, until Ctrl-C.")
  var watch = false

  @Flag(help: "Print JSON, in the form of ListSessions; with --watch one object per line.")
  var json = false

  func run() async throws {
    try await self.server.withService { service, options in
      guard self.watch else {
        return try self.show(try await self.sessions(service, options))
      }
      try await service.watchSessions(.init(), options: options) { response in
        var sessions: [Sidelight_V1_SessionInfo] = []
        var isFirst = true
        for try await message in response.messages {
          sessions += message.sessions
          guard !message.continues else { continue }
          if !isFirst, !self.json { print() }
          try self.show(sessions.filter(self.isWanted))
          (sessions, isFirst) = ([], false)
        }
      }
    }
  }

  private func sessions(
    _ service: SessionsServiceClient, _ options: CallOptions
  ) async throws -> [Sidelight_V1_SessionInfo] {
    var sessions: [Sidelight_V1_SessionInfo] = []
    var request = Sidelight_V1_ListSessionsRequest.with {
      $0.pageSize = 1000
      $0.label = self.label
      $0.participant = self.participant
    }
    repeat {
      let page = try await service.listSessions(request, options: options)
      sessions += page.sessions
      request.pageToken = page.nextPageToken
    } while !request.pageToken.isEmpty
    return sessions
  }

  private func isWanted(_ session: Sidelight_V1_SessionInfo) -> Bool {
    (self.label.isEmpty || session.label == self.label)
      && (self.participant.isEmpty || session.participant == self.participant)
  }

  private func show(_ sessions: [Sidelight_V1_SessionInfo]) throws {
    guard self.json else {
      for session in sessions { print(session.line) }
      fflush(nil)
      return
    }
    let response = Sidelight_V1_ListSessionsResponse.with { $0.sessions = sessions }
    let object = try JSONSerialization.jsonObject(with: Data(response.jsonUTF8Data()))
    var options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
    if !self.watch { options.insert(.prettyPrinted) }
    print(
      String(
        decoding: try JSONSerialization.data(withJSONObject: object, options: options),
        as: UTF8.self))
    fflush(nil)
  }
}

extension Sidelight_V1_SessionInfo {
  /// A human-readable line.
  fileprivate var line: String {
    let state =
      switch self.state {
      case .running: "running"
      case .paused: "paused"
      case .overridden: "overridden"
      case .draining, .move: "leaving"
      case .unspecified, .UNRECOGNIZED: "unknown"
      }
    let dropped = self.stats.dropped.reduce(0) { $0 + $1.count }
    return [
      self.sessionID, self.label, self.participant, self.caller, state,
      self.width == 0 ? "-" : "\(self.width)x\(self.height)", "\(self.age.seconds) s",
      "\(self.stats.received) received", "\(dropped) dropped", self.pipeline,
    ].map(Self.printable).joined(separator: "\t")
  }

  /// Returns a text without characters that control a terminal: clients choose labels.
  private static func printable(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: result.append(" ")
      default: result.append(scalar)
      }
    }
    return String(result)
  }
}

/// `sidelight sessions override`: forces a pipeline on a session.
struct SessionsOverride: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "override",
    abstract: "Force a pipeline on a session, and on those that resume it, for some time.")

  @Argument(help: "Name of the session.")
  var session: String

  @OptionGroup var server: OperatorOptions

  @OptionGroup var pipeline: PipelineOption

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("Duration of the override, 1 to 86400.", valueName: "seconds"))
  var seconds: Double?

  @Flag(help: "End the override that is in force.")
  var end = false

  @Option(help: ArgumentHelp("Reason, for the participant and for logs.", valueName: "text"))
  var reason = ""

  func validate() throws {
    guard self.end == (self.seconds == nil) else {
      throw ValidationError("Give either --for with the duration, or --end.")
    }
    guard (1 ... 86400).contains(self.seconds ?? 1) else {
      throw ValidationError("--for is \(self.seconds ?? 0); it must be 1 to 86400.")
    }
    guard !self.end || (self.pipeline.pipeline.isEmpty && self.reason.isEmpty) else {
      throw ValidationError("--end takes neither --pipeline nor --reason.")
    }
  }

  func run() async throws {
    let pipeline = try self.pipeline.parsed()
    let request = Sidelight_V1_OverrideSessionRequest.with {
      $0.sessionID = self.session
      guard let seconds else { return }
      $0.pipeline = Sidelight_V1_Pipeline(pipeline.pipeline)
      $0.timeToLive = Google_Protobuf_Duration(rounding: seconds)
      $0.reason = self.reason
    }
    try await pipeline.locatingRefusals {
      let response = try await self.server.withService { service, options in
        try await service.overrideSession(request, options: options)
      }
      for session in response.sessions {
        print("\(session.sessionID)\trevision \(session.revision)")
      }
    }
  }
}

/// `sidelight sessions move`: moves a session to another server.
struct SessionsMove: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Ask a session's client to continue elsewhere, without losing a frame if it can.")

  @Argument(help: "Name of the session.")
  var session: String

  @OptionGroup var server: OperatorOptions

  @Option(
    name: .customLong("to"),
    help: ArgumentHelp(
      "Server to continue at, HOST:PORT. (default: the client's choice)", valueName: "address"),
    transform: Address.init(argument:))
  var target: Address?

  func run() async throws {
    let request = Sidelight_V1_MoveSessionRequest.with {
      $0.sessionID = self.session
      $0.address = self.target?.description ?? ""
    }
    let response = try await self.server.withService { service, options in
      try await service.moveSession(request, options: options)
    }
    print(
      response.handsOver
        ? "The client was asked to move."
        : "The client cannot move without a gap; the session ends, and it may open another.")
  }
}

/// `sidelight sessions close`: ends a session.
struct SessionsClose: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "close",
    abstract: "End a session. Its client may open another one.")

  @Argument(help: "Name of the session.")
  var session: String

  @OptionGroup var server: OperatorOptions

  @Option(help: ArgumentHelp("Reason, for the client and for logs.", valueName: "text"))
  var reason = ""

  func run() async throws {
    let request = Sidelight_V1_CloseSessionRequest.with {
      $0.sessionID = self.session
      $0.reason = self.reason
    }
    try await self.server.withService { service, options in
      _ = try await service.closeSession(request, options: options)
    }
  }
}
