import Foundation
import GRPCCore
import InMemoryTracing
import SidelightCodecs
import SidelightKernels
import SidelightServer
import SidelightTelemetry
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Encoded frames in the features that raw frames have: shared memory, cheaper variants,
/// transitions, metrics, spans and quotas.
@Suite(.enabled(if: VideoCodec.vp8.canEncode, "built without the codecs"), .timeLimit(.minutes(5)))
struct EncodedFrameFeatureTests {
  static let look: Pipeline = [.filter("sepiaTone")]

  @Test(
    .enabled(if: SharedMemoryConfiguration.isSupported), arguments: EncodedStream.encodable,
    [false, true])
  func `frames in shared memory are decoded, and their slot is free with the outcome`(
    codec: VideoCodec, returnsVideo: Bool
  ) async throws {
    let stream = try EncodedStream(codec, count: 4)
    let open: @Sendable (inout Sidelight_V1_Open) -> Void = {
      if !returnsVideo { $0.output.format = .i420 }
    }
    let decoded = try stream.decoded()
    try await withServer(.withSharedMemory()) { _, address in
      try await withStub(address) { stub in
        try await stub.withRing(Self.look, inputs: 1, outputs: 1, open) { client in
          var results: [Sidelight_V1_Image] = []
          for index in stream.units.indices {
            client.send(.frame(UInt64(index + 1), client.put(stream.image(index), in: 0)))
            let frame = try await client.receiveFrame()
            #expect(frame.disposition == .filtered)
            // Results return as their frames come, encoded ones inline.
            #expect(frame.image.isInSlot == !returnsVideo)
            results.append(frame.image)
            guard !returnsVideo else { continue }
            let expected = try await decoded[index].filtered(Self.look)
            #expect(try client.bytes(of: frame.image) == expected.bytes)
            client.send(.with { $0.ack.sequence = UInt64(index + 1) })
          }
          guard returnsVideo else { return }
          for (picture, decoded) in zip(try EncodedStream.decode(results, codec), decoded) {
            #expect(picture.lumaPSNR(to: try await decoded.filtered(Self.look)) > 28)
          }
        }
      }
    }
  }

  @Test func `a cheaper variant filters frames before they are dropped`() async throws {
    let clock = ManualClock()
    var ticking = clock.sessionClock
    ticking.now = {
      clock.advance(by: .milliseconds(1))
      return clock.now
    }
    // All frames are key frames, which are decoded even if they are late.
    let image = try EncodedStream(.vp8, 48, 32, count: 1).image(0)
    let answers = try await withServer(clock: ticking) { _, address in
      try await withStub(address) { stub in
        try await stub.converseInTurn(
          .open([.filter("gaussianBlur")], policy: .keepOldest) { $0.allowDegraded = true },
          (1 ... 400).map { sequence in
            .frame(sequence, image) { $0.budgetUs = sequence < 400 ? 1 : 0 }
          })
      }
    }
    #expect(answers.frames.last?.sequence == 400)
    #expect(answers.frames.last?.disposition == .degraded)
    #expect(answers.frames.last?.image.width == 48)
    #expect(answers.frames.last?.image.format == .vp8)
  }

  @Test(arguments: EncodedStream.encodable)
  func `a fade mixes the results of both pipelines, filtered from decoded frames`(
    codec: VideoCodec
  ) async throws {
    var client = TransitionTests.client()
    client.image = try EncodedStream(codec, count: 1).image(0)
    client.configure = { $0.output.format = .i420 }
    let frames = client.frames(0 ..< 12)
    let answers = try await client.run(frames: frames)
    let earlier = try await client.results(of: TransitionTests.sepia, frames: frames)
    let later = try await client.results(of: TransitionTests.negative, frames: frames)
    let pictures = answers.pictures
    #expect(pictures.count == 12)
    #expect(pictures[0] == earlier[0] && pictures[10] == later[10])
    let difference = greatestDifference(
      of: pictures[3], fromMixOf: earlier[3], later[3], weight: 0.3)
    #expect(difference <= 1)
    #expect(answers.ended.map(\.end) == [.completed])
  }

  @Test(arguments: EncodedStream.encodable)
  func `decoding and encoding have spans and metrics of their codec`(
    codec: VideoCodec
  ) async throws {
    let stream = try EncodedStream(codec, count: 3)
    let tracer = W3CTracer()
    let registry = PrometheusRegistry(descriptions: SidelightServer.metricDescriptions)
    _ = try await withServer(tracer: tracer, metrics: registry) { _, address in
      try await withStub(address) { stub in
        try await stub.converseInTurn(
          .open(Self.look),
          stream.units.indices.map { index in
            .frame(UInt64(index + 1), stream.image(index)) {
              $0.trace.traceparent = "00-trace\(index)-root-01"
            }
          })
      }
    }
    let spans = tracer.memory.finishedSpans
    let (decode, encode) = ("\(codec.rawValue)Decode", "\(codec.rawValue)Encode")
    for index in stream.units.indices {
      let trace = spans.filter { $0.traceID == "trace\(index)" }
      let frame = try #require(trace.first { $0.operationName == "sidelight.frame" })
      let children = trace.filter { $0.parentSpanID == frame.spanID }.map(\.operationName)
      #expect(children.first == decode && children.last == encode)
      #expect(children.contains("sepiaTone"))
    }
    for pass in [decode, encode] {
      let series = "sidelight_pass_seconds_count{pass=\"\(pass)\"}"
      #expect(MetricsTests.value(series, in: registry) == 3)
    }
    #expect(tracer.memory.activeSpans.isEmpty)
  }

  @Test(arguments: EncodedStream.encodable)
  func `a caller's bytes per second count decoded pictures`(codec: VideoCodec) async throws {
    // A second has the bytes of two pictures. Encoded, all of them together have less.
    let stream = try EncodedStream(codec, count: 5, keyFrames: [4])
    let limit = 2 * 96 * 64 * 3 / 2
    try #require(stream.units.reduce(0) { $0 + $1.count } < limit)
    var configuration = ServerConfiguration()
    configuration.quotas.bytesPerSecond = Double(limit)
    let clock = ManualClock()
    let answers = try await withServer(configuration, clock: clock.sessionClock) { _, address in
      try await withStub(address) { stub in
        try await stub.converseInTurn(
          .open(Self.look, policy: .keepOldest),
          stream.units.indices.map { .frame(UInt64($0 + 1), stream.image($0)) }
        ) { index in
          if index == 4 { clock.advance(by: .seconds(1)) }
        }
      }
    }
    #expect(answers.frames.map(\.sequence) == [1, 2, 5])
    #expect(answers.dropRuns.map(\.reason) == [.rateLimited])
    #expect(answers.keyFramesNeeded.map(\.reason) == [.loss])
  }
}
