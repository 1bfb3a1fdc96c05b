import NIOCore
import NIOHTTP2
import SidelightWire

/// Resets a call whose peer takes nothing that is written to it (``Guard/callStall``), and one that has
/// its status and whose client does not close its side (``Guard/linger``). Stands next to HTTP/2, and
/// sees what other guards write too.
final class CallOutputGuard: ChannelDuplexHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias InboundOut = HTTP2Frame.FramePayload
  typealias OutboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  /// What is written at a time, so that a slow peer can be told from one that takes nothing.
  private static let writtenAtOnce = 1 << 20

  private let configuration: GuardConfiguration
  private let address: String
  private let ledger: ConnectionLedger
  private var linger = LoopTimer()
  private var stall = LoopTimer()
  private var watch: StallWatch
  private var isWatching = false
  private var written = 0
  private var taken = 0
  private let writes = SerialWrites()

  /// - Parameters:
  ///   - configuration: How long the peer may take.
  ///   - address: Whose call it is.
  ///   - ledger: For calls that are reset.
  init(configuration: GuardConfiguration, address: String, ledger: ConnectionLedger) {
    self.configuration = configuration
    self.address = address
    self.ledger = ledger
    self.watch = StallWatch(timeout: configuration.writeStallTimeout)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .data(let payload) = self.unwrapInboundIn(data), payload.endStream {
      self.linger.cancel()
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let payload = self.unwrapOutboundIn(data)
    if case .headers(let headers) = payload, headers.endStream,
      self.configuration.active.contains(.linger)
    {
      self.awaitEnd(context: context)
    }
    if case .data(let content) = payload, case .byteBuffer(let bytes) = content.data,
      self.configuration.active.contains(.callStall)
    {
      self.take(bytes, eventLoop: context.eventLoop, promise: promise)
    } else {
      self.writes.append(payload, promise: promise)
    }
    self.writeParts(context: context)
  }

  func flush(context: ChannelHandlerContext) {
    self.writes.appendFlush()
    self.writeParts(context: context)
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.linger.cancel()
    self.stall.cancel()
    context.fireChannelInactive()
  }

  /// Takes a message apart, and notes when the peer has taken each part.
  private func take(
    _ bytes: ByteBuffer, eventLoop: any EventLoop, promise: EventLoopPromise<Void>?
  ) {
    var rest = bytes
    if self.written == self.taken { self.watch.begin(at: .now()) }
    self.written += bytes.readableBytes
    repeat {
      let count = min(rest.readableBytes, Self.writtenAtOnce)
      let part = rest.readSlice(length: count) ?? ByteBuffer()
      let isLast = rest.readableBytes == 0
      let done = (isLast ? promise : nil) ?? eventLoop.makePromise()
      done.futureResult.assumeIsolated().whenComplete { _ in self.taken += count }
      self.writes.append(.data(.init(data: .byteBuffer(part))), promise: done)
    } while rest.readableBytes > 0
  }

  private func writeParts(context: ChannelHandlerContext) {
    self.writes.run(context: context)
    if self.taken != self.written, !self.isWatching {
      self.isWatching = true
      self.look(context: context)
    }
  }

  private func look(context: ChannelHandlerContext) {
    self.stall.start(in: self.watch.interval, on: context.eventLoop) {
      if self.taken == self.written {
        self.isWatching = false
      } else if self.watch.isStalled(taken: self.taken, at: .now()) {
        self.ledger.record(.callStall, against: self.address)
        context.close(promise: nil)
      } else {
        self.look(context: context)
      }
    }
  }

  /// Closes the call when the client has had the time to. A reset at once would reach it before it has
  /// read the status, and take its place.
  private func awaitEnd(context: ChannelHandlerContext) {
    self.linger.start(in: self.configuration.lingerTimeout, on: context.eventLoop) {
      // A peer that still takes what was written before the status is the other guard's business.
      guard self.taken == self.written else { return self.awaitEnd(context: context) }
      self.ledger.record(.linger, against: self.address)
      context.close(promise: nil)
    }
  }
}
