import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import Logging
import SidelightCodecs
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// The real-time rules and overrides, with encoded video.
@Suite(.enabled(if: VideoCodec.vp8.canEncode, "built without the codecs"), .timeLimit(.minutes(5)))
struct EncodedVideoRulesTests {
  static let gateAndInvert: Pipeline = [.filter("gate"), .filter("colorInvert")]

  static func catalogue(_ gate: Gate) -> FilterCatalogue {
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(gate.filter)
    return catalogue
  }

  @Test(arguments: EncodedStream.encodable)
  func `newest wins between decoder and encoder, and no picture is damaged`(
    codec: VideoCodec
  ) async throws {
    let stream = try EncodedStream(codec, count: 9)
    let gate = Gate()
    let answers = try await withServer(catalogue: Self.catalogue(gate)) { _, address in
      try await withStub(address) { stub in
        try await stub.converse { writer, pongs in
          var pongs = pongs.makeAsyncIterator()
          var entered = gate.entered.makeAsyncIterator()
          try await writer.write(.open(Self.gateAndInvert, policy: .newestWins))
          try await writer.write(.frame(1, stream.image(0)))
          await entered.next()
          // They arrive while the first is filtered; all but the last are superseded.
          for index in 1 ..< 4 {
            try await writer.write(.frame(UInt64(index + 1), stream.image(index)))
            try await writer.write(.with { $0.ping.id = 1 })
            await pongs.next()
          }
          gate.open(for: 9)
        }
      }
    }
    let shown = answers.frames.map(\.sequence)
    #expect(shown.first == 1 && shown.last == 4)
    #expect(Set(answers.drops.map(\.reason)).isSubset(of: [.superseded, .outputSuperseded]))
    let decoded = try stream.decoded()
    let results = try EncodedStream.decode(answers.frames.map(\.image), codec)
    for (sequence, result) in zip(shown, results) {
      let expected = try await decoded[Int(sequence) - 1].filtered([.filter("colorInvert")])
      #expect(result.lumaPSNR(to: expected) > 28)
    }
  }

  @Test func `encoding counts against a frame's budget`() async throws {
    let clock = ManualClock()
    // Filtering takes 30 ms, and so does encoding.
    var tracer = W3CTracer()
    tracer.onStart = { if $0 == "vp8Encode" { clock.advance(by: .milliseconds(30)) } }
    let image = Sidelight_V1_Image.noise(.i420, 32, 32)
    let answers = try await withServer(
      catalogue: BudgetTests.catalogue(clock), tracer: tracer, clock: clock.sessionClock
    ) { _, address in
      try await withStub(address) { stub in
        try await stub.converseInTurn(
          .open([.filter("slow")], policy: .keepOldest) { $0.output.format = .vp8 },
          [
            .frame(1, image) { $0.budgetUs = 100_000 }, .frame(2, image) { $0.budgetUs = 50_000 },
            .frame(3, image) { $0.budgetUs = 70_000 },
          ])
      }
    }
    #expect(answers.frames.map(\.sequence) == [1, 3])
    #expect(answers.drops.map(\.reason) == [.lateOnArrival])
  }

  @Test func `a result that is late when its turn comes is not encoded, which harms no later one`()
    async throws
  {
    let clock = ManualClock()
    // The worker logs a finished frame when its writer has taken it, before the encoder's turn.
    let log = FinishedFrameLog { if $0 == 2 { clock.advance(by: .milliseconds(50)) } }
    let image = Sidelight_V1_Image.noise(.i420, 32, 32)
    let answers = try await withServer(
      clock: clock.sessionClock, logger: Logger(label: "test") { _ in log }
    ) { _, address in
      try await withStub(address) { stub in
        try await stub.converseInTurn(
          .open([.filter("colorInvert")], policy: .newestWins) {
            $0.output.format = .vp8
            $0.budgetUs = 40_000
          },
          [.frame(1, image), .frame(2, image), .frame(3, image)])
      }
    }
    #expect(answers.frames.map(\.sequence) == [1, 3])
    #expect(answers.frames.map(\.image.encoded.keyFrame) == [true, false])
    let drop = try #require(answers.drops.first)
    #expect(drop.reason == .lateOnOutput && drop.stage == .outbox)
    #expect(drop.lateUs == 10_000)
  }

  @Test func `an override begins with a key frame, and nothing encoded before it follows`()
    async throws
  {
    let stream = try EncodedStream(.vp8, count: 8)
    let answers = try await withServer { _, address in
      try await withStub(address) { stub in
        try await stub.converse { writer, pongs in
          var pongs = pongs.makeAsyncIterator()
          try await writer.write(.open([.filter("sepiaTone")]))
          for index in stream.units.indices {
            if index == 4 { try await Self.override(address, with: [.filter("colorInvert")]) }
            try await writer.write(.frame(UInt64(index + 1), stream.image(index)))
            try await writer.write(.with { $0.ping.id = 1 })
            await pongs.next()
          }
        }
      }
    }
    let forced = answers.frames.filter { $0.sequence > 4 }
    #expect(forced.map(\.sequence) == [5, 6, 7, 8])
    #expect(forced.map(\.image.encoded.keyFrame) == [true, false, false, false])
    // Decodable without the frames before, and only the operator's picture.
    let decoded = try stream.decoded()
    for (frame, result) in zip(forced, try EncodedStream.decode(forced.map(\.image), .vp8)) {
      let expected = try await decoded[Int(frame.sequence) - 1].filtered([.filter("colorInvert")])
      #expect(result.lumaPSNR(to: expected) > 28)
    }
  }

  @Test func `a pause that passes frames keeps the stream whole`() async throws {
    let stream = try EncodedStream(.h264, count: 8, keyFrames: [5])
    var messages: [Sidelight_V1_ClientMessage] = [.open([.filter("sepiaTone")])]
    for index in stream.units.indices {
      if index == 3 { messages.append(.with { $0.pause.passThrough = true }) }
      if index == 7 { messages.append(.with { $0.resume = .init() }) }
      messages.append(.frame(UInt64(index + 1), stream.image(index)))
    }
    let sent = messages
    let answers = try await withServer { _, address in
      try await withStub(address) { try await $0.converse(sent) }
    }
    #expect(answers.frames.map(\.sequence) == Array(1 ... 8))
    #expect(answers.frames.map(\.reencoded) == (1 ... 8).map { [4, 5].contains($0) })
    #expect(
      answers.frames.map(\.image.encoded.keyFrame) == (1 ... 8).map { [1, 6, 8].contains($0) })
    #expect(try EncodedStream.decode(answers.frames.map(\.image), .h264).count == 8)
  }

  @Test func `after a pause that drops frames a key frame is needed`() async throws {
    let stream = try EncodedStream(.vp8, count: 7, keyFrames: [5])
    var messages: [Sidelight_V1_ClientMessage] = [.open()]
    for index in stream.units.indices {
      if index == 2 { messages.append(.with { $0.pause = .init() }) }
      if index == 4 { messages.append(.with { $0.resume = .init() }) }
      messages.append(.frame(UInt64(index + 1), stream.image(index)))
    }
    let sent = messages
    let answers = try await withServer { _, address in
      try await withStub(address) { try await $0.converse(sent) }
    }
    #expect(answers.frames.map(\.sequence) == [1, 2, 6, 7])
    #expect(answers.dropRuns.map(\.reason) == [.paused, .notDecodable])
  }

  @Test func `a stream whose decoder exceeds the caller's memory is dropped, and says so`()
    async throws
  {
    let stream = try EncodedStream(.vp8, count: 2)
    var configuration = ServerConfiguration()
    configuration.quotas.codecBytes = 1_000_000
    let answers = try await withServer(configuration) { _, address in
      try await withStub(address) { stub in
        try await stub.converse([
          .open { $0.output.format = .i420 }, .frame(1, stream.image(0)),
          .frame(2, stream.image(1)),
        ])
      }
    }
    #expect(answers.frames.isEmpty)
    #expect(answers.dropRuns.map(\.reason) == [.rateLimited, .notDecodable])
    #expect(answers.drops.first?.diagnostic.code == Int32(Status.Code.resourceExhausted.rawValue))
    #expect(answers.drops.first?.diagnostic.message.contains("codec_bytes is 1000000") == true)
  }

  @Test func `results whose encoder exceeds the caller's memory are dropped, until it is free`()
    async throws
  {
    let stream = try EncodedStream(.vp8, count: 4)
    var configuration = ServerConfiguration()
    // A decoder of VP8 takes 1.05 MB by estimate, an encoder 1.2 MB.
    configuration.quotas.codecBytes = 2_500_000
    try await withServer(configuration) { _, address in
      try await withStub(address) { stub in
        let messages: [Sidelight_V1_ClientMessage] =
          [.open([.filter("sepiaTone")])]
          + (0 ..< 4).map { .frame(UInt64($0 + 1), stream.image($0)) }
        let (results, result) = AsyncStream<Void>.makeStream()
        let shown = try await stub.process { writer in
          var results = results.makeAsyncIterator()
          for message in messages.prefix(2) { try await writer.write(message) }
          await results.next()
          // The first session has both codecs.
          let second = try await stub.converse([
            .open([.filter("sepiaTone")]) { $0.output.format = .vp8 },
            .frame(1, .noise(.i420, 96, 64)),
          ])
          #expect(second.dropRuns.map(\.reason) == [.stageFailed])
          #expect(
            second.drops.first?.diagnostic.code == Int32(Status.Code.resourceExhausted.rawValue))
          for message in messages[2...] { try await writer.write(message) }
        } onResponse: { response in
          var shown = 0
          for try await message in response.messages {
            guard case .frame? = message.kind else { continue }
            shown += 1
            result.yield()
          }
          return shown
        }
        #expect(shown == 4)
        #expect(try await stub.converse(messages).frames.count == 4)
      }
    }
  }

  private static func override(_ address: Address, with pipeline: Pipeline) async throws {
    guard case .tcp(let host, let port) = address else { return }
    try await withGRPCClient(
      transport: try .http2NIOPosix(
        target: .ipv4(address: host, port: port), transportSecurity: .plaintext)
    ) { client in
      let operators = Sidelight_V1_Sessions.Client(wrapping: client)
      let id = try await operators.listSessions(.init()).sessions.first?.sessionID ?? ""
      _ = try await operators.overrideSession(
        .with {
          $0.sessionID = id
          $0.pipeline = Sidelight_V1_Pipeline(pipeline)
          $0.timeToLive.seconds = 10
        })
    }
  }
}

/// Calls a function with the number of a finished frame.
private final class FinishedFrameLog: LogHandler {
  private let onFinish: @Sendable (UInt64) -> Void
  var metadata: Logger.Metadata {
    get { [:] }
    set {}
  }
  var logLevel: Logger.Level {
    get { .trace }
    set {}
  }

  init(_ onFinish: @escaping @Sendable (UInt64) -> Void) {
    self.onFinish = onFinish
  }

  subscript(metadataKey _: String) -> Logger.Metadata.Value? {
    get { nil }
    set {}
  }

  func log(event: LogEvent) {
    guard event.message == "frame finished", let value = event.metadata?["sequence"],
      let sequence = UInt64("\(value)")
    else { return }
    self.onFinish(sequence)
  }
}
