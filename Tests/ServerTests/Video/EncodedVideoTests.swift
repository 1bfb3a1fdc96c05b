import Foundation
import GRPCCore
import SidelightCodecs
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Encoded video through a real server.
@Suite(.enabled(if: VideoCodec.vp8.canEncode, "built without the codecs"), .timeLimit(.minutes(5)))
struct EncodedVideoTests {
  static let look: Pipeline = [
    .filter("sepiaTone"), .filter("vignette", ["intensity": .number(1)]),
  ]

  /// Sends the frames of a stream with the numbers from 1 on, and returns the server's messages.
  func converse(
    _ stream: EncodedStream, _ open: Sidelight_V1_ClientMessage = .open(),
    without missing: Set<Int> = [],
    _ change: (Int, inout Sidelight_V1_ClientMessage) -> Void = { _, _ in }
  ) async throws -> [Sidelight_V1_ServerMessage] {
    var messages = [open]
    for index in stream.units.indices where !missing.contains(index) {
      var message = Sidelight_V1_ClientMessage.frame(UInt64(index + 1), stream.image(index))
      change(index, &message)
      messages.append(message)
    }
    let sent = messages
    return try await withServer { _, address in
      try await withStub(address) { try await $0.converse(sent) }
    }
  }

  // MARK: Input

  @Test(arguments: EncodedStream.encodable)
  func `a filtered frame equals decoding and filtering in sequence`(codec: VideoCodec) async throws
  {
    let stream = try EncodedStream(codec, 98, 66, count: 6)
    let answers = try await self.converse(stream, .open(Self.look) { $0.output.format = .i420 })
    let frames = answers.frames
    #expect(frames.map(\.sequence) == Array(1 ... 6))
    for (frame, decoded) in zip(frames, try stream.decoded()) {
      #expect(frame.disposition == .filtered)
      let expected = try await decoded.filtered(Self.look)
      #expect(frame.image == Sidelight_V1_Image(expected))
    }
    #expect(answers.finalStats?.bytesIn == UInt64(stream.units.reduce(0) { $0 + $1.count }))
  }

  @Test func `the sender states the colours of VP8`() async throws {
    let stream = try EncodedStream(.vp8, count: 3)
    let color = ColorDescription(range: .full, matrix: .bt709)
    for output in [Sidelight_V1_PixelFormat.i420, .vp8] {
      let open = Sidelight_V1_ClientMessage.open(Self.look) { $0.output.format = output }
      let answers = try await self.converse(stream, open) {
        $1.frame.image.color = Sidelight_V1_ColorDescription(color, of: .i420)
      }
      #expect(answers.frames.map(\.sequence) == [1, 2, 3])
      for (frame, decoded) in zip(answers.frames, try stream.decoded()) {
        // Encoders of VP8 have one kind of colours.
        #expect(frame.image.color.range == (output == .vp8 ? .video : .full))
        #expect(frame.image.color.matrix == (output == .vp8 ? .bt601 : .bt709))
        guard output == .i420 else { continue }
        let expected = Frame(layout: decoded.layout, color: color, buffer: decoded.buffer)
        #expect(frame.image == Sidelight_V1_Image(try await expected.filtered(Self.look)))
      }
    }
  }

  @Test(arguments: EncodedStream.encodable)
  func `after a lost frame nothing is shown until the next key frame`(
    codec: VideoCodec
  ) async throws {
    let stream = try EncodedStream(codec, count: 10, keyFrames: [7])
    let answers = try await self.converse(
      stream, .open(Self.look) { $0.output.format = .i420 }, without: [3])
    #expect(answers.frames.map(\.sequence) == [1, 2, 3, 8, 9, 10])
    #expect(answers.dropRuns.map(\.reason) == [.notDecodable])
    #expect(answers.dropRuns.map(\.firstSequence) == [5])
    #expect(answers.dropRuns.map(\.count) == [3])
    #expect(answers.keyFramesNeeded.map(\.reason) == [.loss])
    #expect(answers.keyFramesNeeded.map(\.sequence) == [5])
    // After the key frame the pictures equal an undamaged stream.
    let decoded = try stream.decoded()
    for frame in answers.frames {
      let expected = try await decoded[Int(frame.sequence) - 1].filtered(Self.look)
      #expect(frame.image == Sidelight_V1_Image(expected))
    }
  }

  @Test(arguments: EncodedStream.encodable)
  func `frames before the first key frame are not decodable`(codec: VideoCodec) async throws {
    let stream = try EncodedStream(codec, count: 5, keyFrames: [3])
    let answers = try await self.converse(stream, without: [0])
    #expect(answers.frames.map(\.sequence) == [4, 5])
    #expect(answers.dropRuns.map(\.reason) == [.notDecodable])
    #expect(answers.keyFramesNeeded.map(\.reason) == [.start])
  }

  @Test(arguments: EncodedStream.encodable)
  func `a damaged frame is invalid, and later ones are not decodable`(
    codec: VideoCodec
  ) async throws {
    let stream = try EncodedStream(codec, count: 6, keyFrames: [4])
    let answers = try await self.converse(stream) { index, message in
      if index == 2 { message.frame.image.inline = Data([0xFF, 0x13, 0x37]) }
    }
    #expect(answers.frames.map(\.sequence) == [1, 2, 5, 6])
    #expect(answers.dropRuns.map(\.reason) == [.invalidFrame, .notDecodable])
    #expect(answers.drops.first?.hasDiagnostic == true)
    #expect(answers.keyFramesNeeded.map(\.reason) == [.damage])
  }

  @Test func `a frame that its sender left out is no loss`() async throws {
    // The upper layer is left out: frames of the lower one depend on each other.
    let stream = try EncodedStream(.vp8, count: 9, layers: 2)
    let upper = Set(stream.facts.indices.filter { stream.facts[$0].temporalLayer > 0 })
    try #require(!upper.isEmpty)
    let lower = stream.units.indices.filter { !upper.contains($0) }
    let answers = try await self.converse(
      stream, .open(Self.look) { $0.output.format = .i420 }, without: upper
    ) { index, message in
      if let previous = lower.last(where: { $0 < index }) {
        message.frame.image.encoded.dependsOn = [UInt64(previous + 1)]
      }
    }
    #expect(answers.frames.map(\.sequence) == lower.map { UInt64($0 + 1) })
    #expect(answers.drops.isEmpty)
  }

  @Test func `frames beyond the frame rate are decoded for those after them`() async throws {
    let stream = try EncodedStream(.vp8, count: 8)
    let frames = stream.units.indices.map { index in
      Sidelight_V1_ClientMessage.frame(UInt64(index + 1), stream.image(index)) {
        $0.mustProcess = index == 7
      }
    }
    let answers = try await withServer { _, address in
      try await withStub(address) { stub in
        try await stub.converseInTurn(
          .open(Self.look, policy: .keepOldest) {
            $0.output.format = .i420
            $0.maxFps = 0.01
          }, frames)
      }
    }
    #expect(answers.frames.map(\.sequence) == [1, 8])
    #expect(Set(answers.drops.map(\.reason)) == [.rateLimited])
    let expected = try await stream.decoded()[7].filtered(Self.look)
    #expect(answers.frames.last?.image == Sidelight_V1_Image(expected))
  }

  @Test func `frames beyond the credits are decoded for those after them`() async throws {
    let stream = try EncodedStream(.vp8, 640, 360, count: 24)
    let answers = try await withServer { _, address in
      try await withStub(address) { stub in
        try await stub.converse { writer, pongs in
          try await writer.write(.open(Self.look, policy: .newestWins))
          for index in stream.units.indices {
            try await writer.write(.frame(UInt64(index + 1), stream.image(index)))
          }
          try await writer.write(.with { $0.ping.id = 1 })
          var pongs = pongs.makeAsyncIterator()
          await pongs.next()
        }
      }
    }
    #expect(answers.drops.contains { $0.reason == .noCredit })
    #expect(!answers.drops.contains { $0.reason == .notDecodable })
  }

  @Test func `parameter sets of a refused frame do not change what the pipeline gets`() async throws
  {
    let small = try EncodedStream(.h264, 64, 64, count: 1)
    let large = try EncodedStream(.h264, 128, 128, count: 1)
    var wrong = large.image(0)
    wrong.width = 640
    var bare = small.image(0)
    bare.inline = Data(small.units[0].withoutParameterSets)
    #expect(bare.inline.count < small.units[0].count)
    let images = [small.image(0), wrong, bare, small.image(0)]
    let sent = images.enumerated().map {
      Sidelight_V1_ClientMessage.frame(UInt64($0 + 1), $1)
    }
    let answers = try await withServer { _, address in
      try await withStub(address) {
        try await $0.converse(
          [.open([.filter("gaussianBlur")]) { $0.output.format = .i420 }] + sent)
      }
    }
    #expect(answers.frames.map(\.sequence) == [1, 4])
    #expect(answers.frames.allSatisfy { $0.image.width == 64 })
    #expect(answers.dropRuns.map(\.reason) == [.invalidFrame, .invalidFrame])
  }

  @Test func `a wrong statement about the picture is an invalid frame`() async throws {
    let stream = try EncodedStream(.h264, count: 3)
    let answers = try await self.converse(stream) { index, message in
      switch index {
      case 0: message.frame.image.width = 640
      case 1: message.frame.image.encoded.keyFrame = true
      default: message.frame.image.planes = [.init()]
      }
    }
    #expect(answers.frames.isEmpty)
    #expect(answers.drops.allSatisfy { $0.reason == .invalidFrame || $0.reason == .notDecodable })
    let texts = answers.drops.map(\.diagnostic.message)
    #expect(texts.contains { $0.contains("frame.image.width") && $0.contains("640") })
  }

  // MARK: Output

  @Test(arguments: EncodedStream.encodable)
  func `results are encoded, beginning with a key frame`(codec: VideoCodec) async throws {
    let stream = try EncodedStream(codec, 98, 66, count: 8)
    let answers = try await self.converse(stream, .open(Self.look))
    let frames = answers.frames
    #expect(frames.map(\.sequence) == Array(1 ... 8))
    #expect(frames.map(\.image.encoded.keyFrame) == [true] + Array(repeating: false, count: 7))
    #expect(frames.allSatisfy { $0.image.width == 98 && $0.image.height == 66 })
    #expect(frames.allSatisfy { !$0.reencoded && $0.disposition == .filtered })
    let results = try EncodedStream.decode(frames.map(\.image), codec)
    for (result, decoded) in zip(results, try stream.decoded()) {
      let expected = try await decoded.filtered(Self.look)
      #expect(result.lumaPSNR(to: expected) > 30)
    }
    let bytes = frames.reduce(0) { $0 + $1.image.inline.count }
    #expect(answers.finalStats?.bytesOut == UInt64(bytes))
  }

  @Test func `raw frames are returned as video, at the requested size`() async throws {
    let answers = try await withServer { _, address in
      try await withStub(address) { stub in
        try await stub.converse(
          [
            .open(Self.look) {
              $0.output.format = .h264
              $0.output.width = 51
              $0.output.encoder.bitRate = 500_000
            }
          ]
            + (1 ... 5).map { .frame(UInt64($0), .noise(.bgra8, 102, 68, seed: 7)) })
      }
    }
    // H.264 has even sizes only.
    #expect(answers.frames.map(\.image.width) == Array(repeating: 50, count: 5))
    #expect(answers.frames.map(\.image.height) == Array(repeating: 34, count: 5))
    #expect(try EncodedStream.decode(answers.frames.map(\.image), .h264).count == 5)
  }

  @Test(arguments: EncodedStream.encodable)
  func `unchanged frames pass through in whole runs`(codec: VideoCodec) async throws {
    let stream = try EncodedStream(codec, count: 12, keyFrames: [8])
    var messages: [Sidelight_V1_ClientMessage] = [.open()]
    for index in stream.units.indices {
      if index == 3 { messages.append(.select(Self.look)) }
      if index == 5 { messages.append(.select([])) }
      messages.append(.frame(UInt64(index + 1), stream.image(index)))
    }
    let sent = messages
    let answers = try await withServer { _, address in
      try await withStub(address) { try await $0.converse(sent) }
    }
    let frames = answers.frames
    try #require(frames.count == 12)
    let isVerbatim = zip(frames, stream.units).map { $0.image.inline == Data($1) }
    // Until the filters begin, and again from the client's next key frame on.
    #expect(
      isVerbatim == [true, true, true] + Array(repeating: false, count: 5)
        + Array(repeating: true, count: 4))
    #expect(frames.map(\.reencoded) == (0 ..< 12).map { (5 ..< 8).contains($0) })
    #expect(
      frames.map(\.image.encoded.keyFrame) == (0 ..< 12).map { [0, 3, 8].contains($0) })
    // The receiver decodes the mixed stream without an error.
    let shown = try EncodedStream.decode(frames.map(\.image), codec)
    for (index, decoded) in try stream.decoded().enumerated() where !(3 ..< 5).contains(index) {
      #expect(shown[index].lumaPSNR(to: decoded) > 30)
    }
  }

  @Test func `the encoder's settings change while the session runs`() async throws {
    let stream = try EncodedStream(.vp8, count: 6)
    var messages: [Sidelight_V1_ClientMessage] = [.open(Self.look)]
    for index in stream.units.indices {
      switch index {
      case 2:
        messages.append(
          .with {
            $0.setEncoder.bitRate = 300_000
            $0.setEncoder.width = 48
            $0.setEncoder.requestID = 7
          })
      case 4:
        messages.append(
          .with {
            $0.setEncoder.bitRate = 1
            $0.setEncoder.requestID = 8
          })
      default: break
      }
      messages.append(.frame(UInt64(index + 1), stream.image(index)))
    }
    let sent = messages
    let answers = try await withServer { _, address in
      try await withStub(address) { try await $0.converse(sent) }
    }
    #expect(answers.accepted.map(\.requestID) == [7])
    #expect(answers.errors.map(\.requestID) == [8])
    #expect(answers.errors.first?.status.message.contains("set_encoder.bit_rate") == true)
    #expect(answers.frames.map(\.image.width) == [96, 96, 48, 48, 48, 48])
    #expect(
      answers.frames.map(\.image.encoded.keyFrame) == [true, false, true, false, false, false])
  }

  /// A file is sent at once, so the times of arrival say nothing about its rate.
  @Test(arguments: EncodedStream.encodable, [false, true])
  func `the bit rate follows the capture times`(codec: VideoCodec, hasJumps: Bool) async throws {
    let messages: [Sidelight_V1_ClientMessage] =
      [
        .open {
          $0.dropPolicy = .neverDrop
          $0.output.format = codec == .h264 ? .h264 : codec == .vp8 ? .vp8 : .vp9
          $0.output.encoder.bitRate = 600_000
          $0.output.encoder.frameRate = 20
        }
      ]
      + (0 ..< 60).map { index in
        // Grain, of which more bits show more.
        var image = Sidelight_V1_Image.noise(.i420, 160, 96, seed: UInt64(index))
        image.inline = Data(image.inline.map { 112 + $0 / 8 })
        var message = Sidelight_V1_ClientMessage.frame(UInt64(index + 1), image)
        // An hour ahead, and back.
        let jump = hasJumps && 20 ..< 40 ~= index ? 3_600_000 : 0
        message.frame.captureTimeNs = Int64(1000 + 50 * index + jump) * 1_000_000
        return message
      }
    let answers = try await withServer(clock: ManualClock().sessionClock) { _, address in
      try await withStub(address) { try await $0.converse(messages) }
    }
    let frames = answers.frames
    try #require(frames.count == 60)
    // After the key frame, which has its own size.
    let bits = frames.dropFirst(10).reduce(0) { $0 + $1.image.inline.count * 8 }
    #expect(abs(Double(bits) / 50 / 30_000 - 1) < 0.25, "\(bits / 50)")
  }

  @Test func `a key frame is sent on request`() async throws {
    let stream = try EncodedStream(.h264, count: 4)
    let clock = ManualClock()
    let answers = try await withServer(clock: clock.sessionClock) { _, address in
      try await withStub(address) { stub in
        try await stub.converseInTurn(
          .open(Self.look),
          stream.units.indices.map { .frame(UInt64($0 + 1), stream.image($0)) }.inserting(
            .with { $0.requestKeyFrame = .init() }, at: 2)
        ) { index in
          // The request comes within half a second of a key frame, and waits.
          if index == 4 { clock.advance(by: .milliseconds(600)) }
        }
      }
    }
    #expect(answers.frames.map(\.image.encoded.keyFrame) == [true, false, false, true])
  }

  // MARK: Refusals

  @Test func `formats are refused where they cannot be used`() async throws {
    try await withServer { _, address in
      try await withStub(address) { stub in
        let error = try await #require(throws: RPCError.self) {
          try await stub.converse([.open { $0.output.format = .av1 }])
        }
        #expect(error.code == .unimplemented)
        #expect(error.message.contains("open.output.format") && error.message.contains("AV1"))
        let image = try EncodedStream(.vp8, count: 1).image(0)
        let still = try await #require(throws: RPCError.self) {
          try await stub.apply(.with { $0.image = image })
        }
        #expect(still.code == .invalidArgument)
        #expect(still.message.contains("only sessions decode"))
        let info = try await stub.getServerInfo(.init())
        #expect(info.codecs.map(\.format) == [.h264, .vp8, .vp9, .av1])
        #expect(info.codecs.map(\.encodes) == [true, true, true, false])
        #expect(info.codecs.allSatisfy { $0.decodes && !$0.library.isEmpty })
      }
    }
  }
}

extension Array {
  fileprivate func inserting(_ element: Element, at index: Int) -> [Element] {
    var copy = self
    copy.insert(element, at: index)
    return copy
  }
}

extension [UInt8] {
  /// The NAL units of an H.264 access unit that are no parameter sets.
  fileprivate var withoutParameterSets: [UInt8] {
    var starts: [Int] = []
    for index in self.indices.dropLast(3) where Array(self[index ..< index + 3]) == [0, 0, 1] {
      starts.append(index + 3)
    }
    var result: [UInt8] = []
    for (start, next) in zip(starts, starts.dropFirst().map { $0 - 3 } + [self.count])
    where ![7, 8].contains(self[start] & 31) {
      result += [0, 0, 0, 1] + self[start ..< next]
    }
    return result
  }
}
