import Foundation
import SidelightClient
import SidelightCodecs
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import Testing

/// Encoded video that is sent faster than the server filters it, or without a connection.
@Suite(.enabled(if: VideoCodec.vp8.canEncode, "built without the codecs"), .timeLimit(.minutes(5)))
struct ClientEncodedFrameTests {
  /// A frame of a stream, without a statement whether it is a key frame.
  static func frame(_ stream: EncodedStream, _ index: Int) throws -> VideoFrame {
    let format = try #require(EncodedFormat(rawValue: stream.codec.rawValue))
    return VideoFrame(.encoded(EncodedFrame(format, stream.units[index])))
  }

  @Test(arguments: EncodedStream.encodable)
  func `frames beyond the window are dropped up to a key frame, and no picture is damaged`(
    codec: VideoCodec
  ) async throws {
    let stream = try EncodedStream(codec, count: 36, keyFrames: [30])
    let gate = Gate()
    let options = SessionOptions(
      pipeline: [.filter("gate")], output: OutputOptions(format: .raw(.i420)))
    try await withServer(catalogue: gate.catalogue) { _, address in
      try await SidelightClient.connect(to: address) { client in
        try await client.withSession(options) { session in
          await session.send(try Self.frame(stream, 0))
          for await _ in gate.entered { break }
          for index in 1 ..< 36 { await session.send(try Self.frame(stream, index)) }
          session.finish()
          gate.open(for: 36)
          var (shown, drops): ([UInt64: Frame], [DroppedFrame]) = ([:], [])
          var requests: [KeyFrameRequest] = []
          for try await event in session.events {
            switch event {
            case .outcome(.filtered(let frame)): shown[frame.sequence] = frame.picture.frame
            case .outcome(.dropped(let frame)): drops.append(frame)
            case .keyFrameNeeded(let request): requests.append(request)
            default: break
            }
          }
          let decoded = try stream.decoded()
          for (sequence, picture) in shown {
            #expect(picture.bytes == decoded[Int(sequence) - 1].bytes, "frame \(sequence)")
          }
          #expect(shown[36] != nil)
          #expect(shown.count + drops.count == 36)
          // The request comes from the client: the server gets only frames that it can decode.
          #expect(Set(requests.map(\.reason)) == [.loss])
          let first = try #require(requests.first).sequence
          let undecodable = drops.filter { $0.reason == .notDecodable }
          #expect(undecodable.map(\.sequence) == Array(first ... 30))
          #expect(undecodable.allSatisfy { $0.stage == .client })
          let reasons = Set(drops.map(\.reason))
          #expect(reasons.isSubset(of: [.notDecodable, .supersededBeforeSending, .superseded]))
        }
      }
    }
  }

  @Test func `without a connection originals are shown from a key frame on`() async throws {
    let stream = try EncodedStream(.vp8, count: 10, keyFrames: [3, 7])
    let clock = ClientTestClock()
    try await Reconnecting.withServers { first, second in
      let addresses = [try await first.address, try await second.address]
      try await clock.withSession(
        at: addresses, Reconnecting.options([.filter("sepiaTone")])
      ) { session in
        var received = ReceivedEvents(session)
        await session.send(try Self.frame(stream, 0))
        #expect(try await received.filtered()?.picture.encoded?.isKeyFrame == true)
        await first.kill()
        let delay = try #require(try await received.interrupted())
        for index in 1 ..< 6 { await session.send(try Self.frame(stream, index)) }
        let request = try await received.next { event in
          if case .keyFrameNeeded(let request) = event { request } else { nil }
        }
        // It follows the outcome of the first frame that is not shown.
        #expect(request?.sequence == 2)
        #expect(received.outcomes == [1, 2])
        for index in 2 ..< 6 {
          let drop = try #require(try await received.dropped())
          #expect(drop.reason == .disconnected)
          // The key frame, and those after it.
          let shown = drop.fallback?.picture.encoded?.bytes
          #expect(shown == (index >= 3 ? stream.units[index] : nil), "frame \(index)")
        }
        await clock.pass(delay)
        _ = try #require(try await received.restored())
        // The new server has no picture on which the frame depends.
        await session.send(try Self.frame(stream, 6))
        #expect(try await received.dropped()?.reason == .notDecodable)
        for index in 7 ..< 10 {
          await session.send(try Self.frame(stream, index))
          let frame = try #require(try await received.filtered())
          #expect(frame.sequence == UInt64(index + 1))
          #expect(frame.picture.encoded?.isKeyFrame == (index == 7))
        }
        session.finish()
        try await received.drain()
        #expect(received.outcomes == Array(1 ... 10))
      }
    }
  }

  @Test func `a refused change of the encoder stops neither later ones nor a new connection`()
    async throws
  {
    let clock = ClientTestClock()
    let small = FrameSize(width: 48, height: 32)
    try await Reconnecting.withServers { first, second in
      let addresses = [try await first.address, try await second.address]
      var options = Reconnecting.options([.filter("colorInvert")])
      options.output = OutputOptions(format: .encoded(.vp8))
      try await clock.withSession(at: addresses, options) { session in
        var received = ReceivedEvents(session)
        session.setEncoder(size: FrameSize(width: 16000, height: 16000))
        #expect(try await received.rejected() != nil)
        session.setEncoder(bitRate: 300_000)
        session.setEncoder(size: small)
        // The answer shows that the server has read the changes.
        _ = try await session.ping()
        await session.send(VideoFrame(try EncodedStream.picture(0)))
        #expect(try await received.filtered()?.picture.encoded?.size == small)
        await first.kill()
        await clock.pass(try #require(try await received.interrupted()))
        _ = try #require(try await received.restored())
        _ = try await session.ping()
        await session.send(VideoFrame(try EncodedStream.picture(1)))
        #expect(try await received.filtered()?.picture.encoded?.size == small)
        session.finish()
        try await received.drain()
      }
    }
  }

  @Test func `the client reads the same key frames as the server, and no others as disposable`()
    throws
  {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../Fuzz/Seeds/video")
    var keyFrames: [VideoCodec: Int] = [:]
    for file in try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    {
      let bytes = [UInt8](try Data(contentsOf: file))
      let codec = VideoCodec.allCases[Int(bytes[0])]
      var rest = bytes.dropFirst()
      let format = try #require(EncodedFormat(rawValue: codec.rawValue))
      var reader = VideoHeaderReader(codec: codec, limits: ImageLimits())
      while let low = rest.popFirst(), let high = rest.popFirst() {
        let unit = Array(rest.prefix(Int(low) | Int(high) << 8))
        rest = rest.dropFirst(unit.count)
        guard let header = try? reader.header(of: unit.span.bytes) else { continue }
        let role = VideoPicture.encoded(EncodedFrame(format, unit)).role
        #expect((role == .keyFrame) == header.isKeyFrame, "\(file.lastPathComponent)")
        #expect(role != .disposable || header.isDisposable, "\(file.lastPathComponent)")
        if header.isKeyFrame { keyFrames[codec, default: 0] += 1 }
      }
    }
    for codec in VideoCodec.allCases { #expect(keyFrames[codec, default: 0] > 2) }
  }

  @Test func `the upper layer of H.264 is disposable`() throws {
    let stream = try EncodedStream(.h264, count: 9, layers: 2)
    let roles = try stream.units.indices.map { try Self.frame(stream, $0).picture.role }
    #expect(roles.map { $0 == .disposable } == stream.facts.map(\.isDisposable))
    #expect(roles.contains(.disposable) && roles.contains(.reference))
  }

  @Test(arguments: EncodedFormat.allCases)
  func `bytes that are not a frame count as a reference`(format: EncodedFormat) {
    for bytes in [[], [0x0A], [0x36], [0, 0, 1], [0x12, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]] as [[UInt8]]
    where format != .vp8 || bytes.isEmpty {
      #expect(VideoPicture.encoded(EncodedFrame(format, bytes)).role == .reference)
    }
  }
}
