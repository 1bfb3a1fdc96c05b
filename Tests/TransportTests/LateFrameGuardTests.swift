import NIOCore
import NIOEmbedded
import NIOHTTP2
import SidelightTransport
import SidelightWire
import Testing

/// Which of HTTP/2's errors are about frames that came too late.
@Suite struct LateFrameGuardTests {
  /// Replaces HTTP/2: reports an error about everything that it reads.
  private final class ErrorReporter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let error: any Error
    /// Whether the connection becomes writable again during a read.
    private let becomesWritable: Bool

    init(_ error: any Error, becomesWritable: Bool) {
      self.error = error
      self.becomesWritable = becomesWritable
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      if self.becomesWritable { context.pipeline.fireChannelWritabilityChanged() }
      context.fireErrorCaught(self.error)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
      context.fireErrorCaught(self.error)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
      context.fireErrorCaught(self.error)
    }
  }

  /// Counts the errors that pass and the frames that are left out.
  private static func count(
    _ error: any Error = NIOHTTP2Errors.noSuchStream(streamID: 1), becomesWritable: Bool = false,
    _ body: (ChannelPipeline) -> Void
  ) throws -> [Int] {
    let (channel, decoding) = (EmbeddedChannel(), DecodingObserver())
    defer { _ = try? channel.finish() }
    var (passed, leftOut) = (0, 0)
    try channel.pipeline.syncOperations.addHandlers([
      decoding, ErrorReporter(error, becomesWritable: becomesWritable),
      LateFrameGuard(decoding) { _ in leftOut += 1 }, ErrorCounter { passed += 1 },
    ])
    body(channel.pipeline)
    return [passed, leftOut]
  }

  private final class ErrorCounter: ChannelInboundHandler {
    typealias InboundIn = Any

    private let count: () -> Void

    init(_ count: @escaping () -> Void) {
      self.count = count
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { self.count() }
  }

  @Test func `errors about the peer's frames pass`() throws {
    #expect(try Self.count { $0.fireChannelRead(ByteBuffer(string: "a")) } == [1, 0])
  }

  @Test
  func `errors about frames to be written are left out, also after everything was read`() throws {
    #expect(try Self.count { $0.fireChannelWritabilityChanged() } == [0, 1])
    #expect(try Self.count { $0.fireChannelReadComplete() } == [0, 1])
    let both = try Self.count {
      $0.fireChannelRead(ByteBuffer(string: "a"))
      $0.fireChannelWritabilityChanged()
    }
    #expect(both == [1, 1])
  }

  @Test
  func `an error of a write within a read is not the peer's, and the read's own error is`() throws {
    let counts = try Self.count(becomesWritable: true) {
      $0.fireChannelRead(ByteBuffer(string: "a"))
    }
    #expect(counts == [1, 1])
  }

  @Test func `any other error passes at any time`() throws {
    let counts = try Self.count(ChannelError.eof) {
      $0.fireChannelRead(ByteBuffer(string: "a"))
      $0.fireChannelWritabilityChanged()
    }
    #expect(counts == [2, 0])
  }

  /// Records the events of a read.
  private final class ReadRecorder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private(set) var events: [String] = []

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      self.events.append(String(buffer: self.unwrapInboundIn(data)))
    }

    func channelReadComplete(context: ChannelHandlerContext) { self.events.append("complete") }
  }

  @Test func `a read is complete before the next one begins`() throws {
    let (channel, recorder) = (EmbeddedChannel(), ReadRecorder())
    defer { _ = try? channel.finish() }
    try channel.pipeline.syncOperations.addHandlers([DecodingObserver(), recorder])
    for poll in [["a"], ["b", "c", "d"], ["e"]] {
      for bytes in poll { channel.pipeline.fireChannelRead(ByteBuffer(string: bytes)) }
      channel.pipeline.fireChannelReadComplete()
    }
    #expect(
      recorder.events == [
        "a", "complete", "b", "complete", "c", "complete", "d", "complete", "e", "complete",
      ])
  }
}
