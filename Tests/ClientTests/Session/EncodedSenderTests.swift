import SidelightClient
import SidelightCodecs
import SidelightServer
import SidelightTestSupport
import SidelightWire
import Testing

/// Encoded frames of a device, with a real server.
@Suite(.enabled(if: VideoCodec.vp8.canEncode, "built without the codecs"), .timeLimit(.minutes(5)))
struct EncodedSenderTests {
  static let target = EncoderTarget(bitRate: 2_000_000, width: 96, height: 64, frameRate: 30)

  /// Runs a session and its sender, both on a clock that the test advances.
  static func withSender(
    framesInFlight: Int = 4,
    _ body: @Sendable (EncodedSender, FilterSession, ManualClock) async throws -> Void
  ) async throws {
    var configuration = ServerConfiguration()
    configuration.framesInFlight = framesInFlight
    try await withServer(configuration, clock: ManualClock().sessionClock) { _, address in
      let clock = ManualClock()
      try await SidelightClient.connect(
        to: [address], clock: clock.sessionClock, random: { 0.5 }
      ) { client in
        try await client.withSession(SessionOptions(pipeline: [.sepiaTone()])) { session in
          try await body(EncodedSender(session, target: Self.target), session, clock)
        }
      }
    }
  }

  static func frame(_ stream: EncodedStream, _ index: Int) -> VideoFrame {
    VideoFrame(.encoded(EncodedFrame(.vp8, stream.units[index])))
  }

  @Test func `the server's request makes the next frame a key frame`() async throws {
    let stream = try EncodedStream(.vp8, count: 3)
    try await Self.withSender { sender, session, _ in
      var events = session.events.makeAsyncIterator()
      #expect(sender.next()?.isKeyFrame == true, "the first frame")
      // One that depends on another: the server cannot decode it.
      await sender.send(Self.frame(stream, 1))
      // The connection has sent it.
      _ = try await session.ping()
      #expect(sender.next()?.isKeyFrame == false)
      var isRequested = false
      while !isRequested, let event = try await events.next() {
        sender.record(event)
        if case .keyFrameNeeded = event { isRequested = true }
      }
      #expect(sender.next()?.isKeyFrame == true)
      await sender.send(Self.frame(stream, 0))
      _ = try await session.ping()
      #expect(sender.next()?.isKeyFrame == false)
      session.finish()
      while let event = try await events.next() { sender.record(event) }
      #expect(session.counts.filtered == 1)
      #expect(sender.next() == nil, "the session is over")
    }
  }

  @Test func `a frame without a credit is left out before it is encoded`() async throws {
    let stream = try EncodedStream(.vp8, count: 3)
    try await Self.withSender(framesInFlight: 2) { sender, session, _ in
      var events = session.events.makeAsyncIterator()
      for index in 0 ..< 2 {
        #expect(sender.next() != nil)
        await sender.send(Self.frame(stream, index))
        // The credit is taken when the connection sends the frame.
        _ = try await session.ping()
      }
      #expect(sender.next() == nil)
      while case let event? = try await events.next() {
        sender.record(event)
        if case .outcome = event { break }
      }
      #expect(sender.next() != nil)
      await sender.send(Self.frame(stream, 2))
      session.finish()
      while let event = try await events.next() { sender.record(event) }
      #expect(session.counts.filtered == 3)
      #expect(session.counts.dropped.isEmpty)
    }
  }

  @Test(.enabled(if: VideoCodec.h264.canEncode))
  func `a disposable frame that is left out needs no key frame`() async throws {
    let stream = try EncodedStream(.h264, count: 3, layers: 2)
    try #require(stream.facts.map(\.isDisposable) == [false, true, false])
    try await Self.withSender(framesInFlight: 1) { sender, session, _ in
      var events = session.events.makeAsyncIterator()
      for unit in stream.units {
        await sender.send(VideoFrame(.encoded(EncodedFrame(.h264, unit))))
      }
      var outcomes = 0
      while outcomes < 3, let event = try await events.next() {
        sender.record(event)
        if case .outcome = event { outcomes += 1 }
      }
      #expect(session.counts.dropped[.supersededBeforeSending] == 1)
      #expect(session.counts.filtered == 2)
      #expect(sender.next()?.isKeyFrame == false)
      session.finish()
      while try await events.next() != nil {}
    }
  }

  @Test func `the bit rate falls when frames take longer, and grows again`() async throws {
    let stream = try EncodedStream(.vp8, count: 200)
    try await Self.withSender { sender, session, clock in
      var events = session.events.makeAsyncIterator()
      var rates: [Int] = []
      for index in stream.units.indices {
        if sender.next() != nil {
          // A frame has the size of its bit rate.
          var frame = EncodedFrame(.vp8, stream.units[index])
          frame.bytes += Array(
            repeating: 0, count: max(0, sender.current.bitRate / 240 - frame.bytes.count))
          await sender.send(VideoFrame(.encoded(frame)))
          var isKnown = false
          while !isKnown, let event = try await events.next() {
            let isSlow = (50 ..< 80).contains(index)
            clock.advance(by: .milliseconds(isSlow ? 250 : 20))
            sender.record(event)
            if case .outcome = event { isKnown = true }
          }
        }
        clock.advance(by: .milliseconds(13))
        rates.append(sender.current.bitRate)
      }
      let (first, lowest, last) = (rates[49], rates[50 ..< 90].min() ?? 0, rates[199])
      #expect(lowest < first * 3 / 4)
      #expect(last > lowest)
    }
  }
}
