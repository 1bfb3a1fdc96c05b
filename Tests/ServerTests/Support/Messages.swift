import GRPCCore
import SidelightKernels
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Options that let frames of any size that the server accepts pass.
var largeMessages: CallOptions {
  var options = CallOptions.defaults
  options.maxRequestMessageBytes = 256 << 20
  options.maxResponseMessageBytes = 256 << 20
  return options
}

extension Sidelight_V1_ClientMessage {
  static func open(
    _ pipeline: Pipeline = [], policy: Sidelight_V1_DropPolicy = .neverDrop,
    _ configure: (inout Sidelight_V1_Open) -> Void = { _ in }
  ) -> Self {
    .with {
      $0.open.pipeline = Sidelight_V1_Pipeline(pipeline)
      $0.open.dropPolicy = policy
      configure(&$0.open)
    }
  }

  static func frame(
    _ sequence: UInt64, _ image: Sidelight_V1_Image,
    _ configure: (inout Sidelight_V1_Frame) -> Void = { _ in }
  ) -> Self {
    .with {
      $0.frame.sequence = sequence
      $0.frame.image = image
      configure(&$0.frame)
    }
  }

  static func select(_ pipeline: Pipeline, requestID: UInt64 = 0) -> Self {
    .with {
      $0.select.pipeline = Sidelight_V1_Pipeline(pipeline)
      $0.select.requestID = requestID
    }
  }
}

extension Stub {
  /// Sends messages, closes the client's side, and returns the server's messages. Throws the status
  /// of the call unless it is OK.
  func converse(
    _ messages: [Sidelight_V1_ClientMessage]
  ) async throws -> [Sidelight_V1_ServerMessage] {
    try await self.process(options: largeMessages) { writer in
      for message in messages { try await writer.write(message) }
    } onResponse: { response in
      var answers: [Sidelight_V1_ServerMessage] = []
      for try await message in response.messages { answers.append(message) }
      return answers
    }
  }

  /// Sends messages through a writer, with the arrivals of pongs: messages are read in order, so the
  /// answer to a ping shows that all messages before it have been read. Returns the server's
  /// messages.
  func converse(
    _ send:
      @escaping @Sendable (RPCWriter<Sidelight_V1_ClientMessage>, AsyncStream<Void>) async throws
      -> Void
  ) async throws -> [Sidelight_V1_ServerMessage] {
    let (pongs, pong) = AsyncStream<Void>.makeStream()
    return try await self.process(options: largeMessages) { writer in
      try await send(writer, pongs)
    } onResponse: { response in
      var answers: [Sidelight_V1_ServerMessage] = []
      for try await message in response.messages {
        answers.append(message)
        if case .pong? = message.kind { pong.yield() }
      }
      return answers
    }
  }

  /// Opens a session, and keeps it open until `body` has returned.
  func whileOpen<Result: Sendable>(
    _ open: Sidelight_V1_ClientMessage = .open(), metadata: Metadata = [:],
    _ body: @escaping @Sendable (Sidelight_V1_Opened) async throws -> Result
  ) async throws -> Result {
    let (end, ended) = AsyncStream<Never>.makeStream()
    return try await self.process(metadata: metadata, options: largeMessages) { writer in
      try await writer.write(open)
      for await _ in end {}
    } onResponse: { response in
      defer { ended.finish() }
      var result: Result?
      for try await message in response.messages {
        guard case .opened(let opened)? = message.kind else { continue }
        result = try await body(opened)
        ended.finish()
      }
      return try #require(result)
    }
  }

  /// Opens a session and sends frames, waiting for an outcome before the next frame; returns the
  /// server's messages.
  ///
  /// - Parameter before: Called before every frame is sent, with its index.
  func converseInTurn(
    _ open: Sidelight_V1_ClientMessage, _ messages: [Sidelight_V1_ClientMessage],
    before: @escaping @Sendable (Int) -> Void = { _ in }
  ) async throws -> [Sidelight_V1_ServerMessage] {
    let (turns, turn) = AsyncStream<Void>.makeStream()
    return try await self.process(options: largeMessages) { writer in
      try await writer.write(open)
      var iterator = turns.makeAsyncIterator()
      for (index, message) in messages.enumerated() {
        before(index)
        try await writer.write(message)
        if case .frame? = message.kind { await iterator.next() }
      }
    } onResponse: { response in
      var answers: [Sidelight_V1_ServerMessage] = []
      for try await message in response.messages {
        answers.append(message)
        switch message.kind {
        case .frame?: turn.yield()
        case .dropped(let run)?: for _ in 0 ..< run.count { turn.yield() }
        default: break
        }
      }
      return answers
    }
  }
}

extension [Sidelight_V1_ServerMessage] {
  var frames: [Sidelight_V1_FilteredFrame] {
    self.compactMap { if case .frame(let frame)? = $0.kind { frame } else { nil } }
  }
  var drops: [Sidelight_V1_Dropped] {
    self.compactMap { if case .dropped(let dropped)? = $0.kind { dropped } else { nil } }
  }
  /// The drops, with consecutive frames of one reason as one: the server sends a run in parts when
  /// its frames arrive slowly.
  var dropRuns: [Sidelight_V1_Dropped] {
    self.drops.reduce(into: []) { runs, drop in
      guard var last = runs.last, drop.firstSequence == last.lastSequence + 1,
        drop.reason == last.reason, drop.stage == last.stage, drop.output == last.output,
        drop.diagnostic == last.diagnostic
      else { return runs.append(drop) }
      last.lastSequence = drop.lastSequence
      last.count += drop.count
      runs[runs.count - 1] = last
    }
  }
  var accepted: [Sidelight_V1_Accepted] {
    self.compactMap { if case .accepted(let accepted)? = $0.kind { accepted } else { nil } }
  }
  var applied: [Sidelight_V1_Applied] {
    self.compactMap { if case .applied(let applied)? = $0.kind { applied } else { nil } }
  }
  var analyses: [Sidelight_V1_Analysis] {
    self.compactMap { if case .analysis(let analysis)? = $0.kind { analysis } else { nil } }
  }
  var states: [Sidelight_V1_SessionState] {
    self.compactMap { if case .state(let state)? = $0.kind { state.state } else { nil } }
  }
  var errors: [Sidelight_V1_Error] {
    self.compactMap { if case .error(let error)? = $0.kind { error } else { nil } }
  }
  var keyFramesNeeded: [Sidelight_V1_KeyFrameNeeded] {
    self.compactMap { if case .keyFrameNeeded(let needed)? = $0.kind { needed } else { nil } }
  }
  var finalStats: Sidelight_V1_Stats? {
    if case .stats(let stats)? = self.last?.kind, stats.final { stats } else { nil }
  }
}

extension Sidelight_V1_Stats {
  /// The frames that have an outcome.
  var outcomes: UInt64 {
    self.filtered + self.passedThrough + self.degraded + self.dropped.reduce(0) { $0 + $1.count }
  }
}
