import Foundation
import GRPCCore
import InMemoryTracing
import SidelightCodecs
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// The frames of encoded video that are not decoded, and the cost of those that are.
@Suite(.enabled(if: VideoCodec.vp8.canEncode, "built without the codecs"), .timeLimit(.minutes(5)))
struct EncodedVideoDropTests {
  static let invert: Pipeline = [.filter("colorInvert")]

  /// A stream of two temporal layers: every second frame is disposable.
  static func layered(_ codec: VideoCodec, count: Int) throws -> EncodedStream {
    let stream = try EncodedStream(codec, count: count, layers: 2)
    try #require(
      stream.facts.map(\.isDisposable) == (0 ..< count).map { !$0.isMultiple(of: 2) })
    return stream
  }

  /// A tracer that holds every frame before it is decoded.
  static func tracer(_ gate: Gate, _ codec: VideoCodec) -> W3CTracer {
    var tracer = W3CTracer()
    tracer.onStart = { if $0 == "\(codec.rawValue)Decode" { gate.hold() } }
    return tracer
  }

  /// Sends messages while the first frame waits to be decoded. Calls a function when the server has
  /// read them, and returns its answers.
  private static func answers(
    to messages: [Sidelight_V1_ClientMessage], _ codec: VideoCodec, holding decoder: Gate,
    _ proceed: @escaping @Sendable (ManualClock) async throws -> Void
  ) async throws -> [Sidelight_V1_ServerMessage] {
    let clock = ManualClock()
    return try await withServer(
      tracer: Self.tracer(decoder, codec), clock: clock.sessionClock
    ) { _, address in
      try await withStub(address) { stub in
        try await stub.converse { writer, pongs in
          try await writer.write(
            .open(Self.invert, policy: .newestWins) {
              $0.output.format = .i420
              $0.framesInFlight = 8
            })
          for (index, message) in messages.enumerated() {
            try await writer.write(message)
            if index == 0 { for await _ in decoder.entered { break } }
          }
          try await writer.write(.with { $0.ping.id = 1 })
          for await _ in pongs { break }
          try await proceed(clock)
        }
      }
    }
  }

  @Test(arguments: EncodedStream.encodable)
  func `late frames that others depend on are decoded, and disposable ones are not`(
    codec: VideoCodec
  ) async throws {
    let stream = try Self.layered(codec, count: 5)
    let messages = stream.units.indices.map { index in
      Sidelight_V1_ClientMessage.frame(UInt64(index + 1), stream.image(index)) {
        if 1 ... 3 ~= index { $0.budgetUs = 20_000 } else { $0.mustProcess = true }
      }
    }
    let decoder = Gate()
    let answers = try await Self.answers(to: messages, codec, holding: decoder) { clock in
      clock.advance(by: .milliseconds(50))
      decoder.open(for: 5)
    }
    #expect(answers.frames.map(\.sequence) == [1, 5])
    #expect(answers.dropRuns.map(\.reason) == [.lateInPipeline])
    #expect(answers.dropRuns.map(\.count) == [3])
    #expect(decoder.entryCount == 3, "only the lower layer is decoded")
    let expected = try await stream.decoded()[4].filtered(Self.invert)
    #expect(answers.frames.last?.image == Sidelight_V1_Image(expected))
  }

  @Test(arguments: EncodedStream.encodable)
  func `a disposable frame is not decoded while another waits to be filtered`(
    codec: VideoCodec
  ) async throws {
    let stream = try Self.layered(codec, count: 5)
    let filter = Gate()
    let tracer = W3CTracer()
    let answers = try await withServer(
      catalogue: EncodedVideoRulesTests.catalogue(filter), tracer: tracer
    ) { _, address in
      try await withStub(address) { stub in
        try await stub.converse { writer, _ in
          try await writer.write(
            .open(EncodedVideoRulesTests.gateAndInvert, policy: .newestWins) {
              $0.output.format = .i420
              $0.framesInFlight = 8
            })
          for index in 0 ..< 4 {
            try await writer.write(
              .frame(UInt64(index + 1), stream.image(index)) {
                $0.trace.traceparent = "00-trace\(index)-root-01"
                $0.mustProcess = index.isMultiple(of: 2)
              })
            if index == 0 { for await _ in filter.entered { break } }
          }
          try await expectEventually("the last frame is dropped") {
            tracer.memory.finishedSpans.contains {
              $0.traceID == "trace3" && $0.operationName == "sidelight.frame"
            }
          }
          filter.open(for: 3)
          // The frames of the lower layer still depend on each other only.
          for await _ in filter.entered { break }
          try await writer.write(.frame(5, stream.image(4)) { $0.mustProcess = true })
        }
      }
    }
    // The second was decoded, and then displaced by the third.
    #expect(answers.frames.map(\.sequence) == [1, 3, 5])
    #expect(answers.drops.map(\.firstSequence) == [2, 4])
    #expect(Set(answers.drops.map(\.reason)) == [.superseded])
    let decodings = tracer.memory.finishedSpans.filter { $0.operationName.hasSuffix("Decode") }
    #expect(
      decodings.map(\.traceID).filter { $0.hasPrefix("trace") } == ["trace0", "trace1", "trace2"])
    let expected = try await stream.decoded()[4].filtered(Self.invert)
    #expect(answers.frames.last?.image == Sidelight_V1_Image(expected))
  }

  @Test(arguments: EncodedStream.encodable)
  func `if decoding stays behind the budgets, the server skips to a key frame, and asks for it`(
    codec: VideoCodec
  ) async throws {
    let stream = try EncodedStream(codec, count: 6, keyFrames: [5])
    let messages = stream.units.indices.map { index in
      Sidelight_V1_ClientMessage.frame(UInt64(index + 1), stream.image(index)) {
        if 1 ... 4 ~= index { $0.budgetUs = 20_000 } else { $0.mustProcess = true }
      }
    }
    let decoder = Gate()
    let answers = try await Self.answers(to: messages, codec, holding: decoder) { clock in
      // The second is late before it is decoded, and the third another 30 ms later.
      for time in [50, 30] {
        clock.advance(by: .milliseconds(time))
        decoder.open(for: 1)
        for await _ in decoder.entered { break }
      }
      decoder.open(for: 4)
    }
    #expect(answers.frames.map(\.sequence) == [1, 6])
    #expect(
      answers.drops.flatMap { Array(repeating: $0.reason, count: Int($0.count)) }
        == [.lateInPipeline, .notDecodable, .notDecodable, .notDecodable])
    #expect(answers.keyFramesNeeded.map(\.reason) == [.tooSlow])
    #expect(answers.keyFramesNeeded.map(\.sequence) == [3])
    #expect(decoder.entryCount == 3)
  }

  @Test(arguments: EncodedStream.encodable)
  func `the decoding of a frame that is dropped counts as work that arrives`(
    codec: VideoCodec
  ) async throws {
    let stream = try EncodedStream(codec, count: 12)
    let clock = ManualClock()
    var tracer = W3CTracer()
    tracer.onStart = { if $0.hasSuffix("Decode") { clock.advance(by: .milliseconds(100)) } }
    var configuration = ServerConfiguration()
    configuration.computeThreads = 1
    let spans = tracer.memory
    let answers = try await withServer(
      configuration, tracer: tracer, clock: clock.sessionClock
    ) { _, address in
      try await withStub(address) { stub in
        try await stub.converse { writer, _ in
          try await writer.write(
            .open(policy: .keepOldest) {
              $0.output.format = .i420
              $0.maxFps = 0.01
              $0.framesInFlight = 16
            })
          for index in stream.units.indices {
            try await writer.write(.frame(UInt64(index + 1), stream.image(index)))
          }
          try await expectEventually("all are decoded") {
            spans.finishedSpans.count { $0.operationName.hasSuffix("Decode") } == 12
          }
          // The thread is busy with decoding all the time.
          let load = try await stub.getServerInfo(.init()).load.schedulerLoad
          #expect(load > 0.25)
        }
      }
    }
    #expect(answers.frames.map(\.sequence) == [1])
    #expect(answers.dropRuns.map(\.reason) == [.rateLimited])
  }

  // MARK: Errors

  @Test func `frames that cannot be decoded are no errors of the client, and broken ones are`()
    async throws
  {
    let stream = try EncodedStream(.h264, count: 10, keyFrames: [9])
    var configuration = ServerConfiguration()
    configuration.maxConsecutiveErrors = 3
    var broken = stream.image(0)
    broken.inline = broken.inline.dropLast(broken.inline.count / 2)
    var wrong = stream.image(0)
    wrong.width = 640
    try await withServer(configuration) { [broken, wrong] _, address in
      try await withStub(address) { stub in
        // The second is lost.
        let answers = try await stub.converse(
          [.open()]
            + stream.units.indices.filter { $0 != 1 }.map {
              .frame(UInt64($0 + 1), stream.image($0))
            })
        #expect(answers.frames.map(\.sequence) == [1, 10])
        #expect(answers.dropRuns.map(\.reason) == [.notDecodable])
        #expect(answers.dropRuns.map(\.count) == [7])
        for image in [broken, wrong] {
          let error = await #expect(throws: RPCError.self) {
            try await stub.converseInTurn(.open(), (1 ... 5).map { .frame($0, image) })
          }
          #expect(error?.code == .invalidArgument)
          #expect(error?.message.contains("errors in a row") == true)
        }
      }
    }
  }

  // MARK: Key frames

  @Test(arguments: EncodedStream.encodable, [false, true])
  func `results begin again with a key frame where a pipeline that protects begins`(
    codec: VideoCodec, protects: Bool
  ) async throws {
    let stream = try EncodedStream(codec, count: 6)
    let gate = Gate()
    gate.open(for: 6)
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(MarkFilter.Waiting.description) {
      MarkFilter.Waiting(gate: gate, protects: $0.flag("protects"))
    }
    var messages = stream.units.indices.map {
      Sidelight_V1_ClientMessage.frame(UInt64($0 + 1), stream.image($0))
    }
    messages.insert(.select([.filter("waiting", ["protects": .flag(protects)])]), at: 3)
    let sent = messages
    let answers = try await withServer(catalogue: catalogue) { _, address in
      try await withStub(address) { try await $0.converse([.open(Self.invert)] + sent) }
    }
    #expect(
      answers.frames.map(\.image.encoded.keyFrame)
        == [true, false, false, protects, false, false])
  }
}
