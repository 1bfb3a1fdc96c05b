import NIOCore
import SidelightWire

/// Sends a WebSocket ping to a client that has been silent for a while, and closes the connection
/// if it doesn't answer (``Guard/keepalive``). Any bytes count as an answer.
///
/// A connection that the server does not read at the moment, because the call takes no messages,
/// counts as not silent: the server could not see its answer.
final class WebSocketKeepalive: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = IOData
  typealias OutboundOut = IOData

  private let interval: Duration
  private let timeout: Duration
  private var timer = EventLoopTimer()
  private var lastActivity = NIODeadline.now()
  private var isReading = true
  private var isPingOutstanding = false

  /// - Parameters:
  ///   - interval: The silence after which a ping is sent.
  ///   - timeout: The time that the client then has.
  init(interval: Duration, timeout: Duration) {
    self.interval = interval
    self.timeout = timeout
  }

  func handlerAdded(context: ChannelHandlerContext) { self.wait(self.interval, context: context) }

  func handlerRemoved(context: ChannelHandlerContext) { self.timer.cancel() }

  func channelInactive(context: ChannelHandlerContext) {
    self.timer.cancel()
    context.fireChannelInactive()
  }

  func read(context: ChannelHandlerContext) {
    if !self.isReading {
      self.isReading = true
      self.lastActivity = .now()
    }
    context.read()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    self.lastActivity = .now()
    // The next call of `read` asks for more.
    self.isReading = false
    if self.isPingOutstanding {
      self.isPingOutstanding = false
      self.wait(self.interval, context: context)
    }
    context.fireChannelRead(data)
  }

  /// One timer that reads the clock costs less than a timer that every read resets.
  private func wait(_ duration: Duration, context: ChannelHandlerContext) {
    self.timer.start(in: duration, on: context.eventLoop) {
      let silence = self.isReading ? Duration(NIODeadline.now() - self.lastActivity) : .zero
      if silence < self.interval {
        self.wait(self.interval - silence, context: context)
      } else {
        self.sendPing(context: context)
      }
    }
  }

  private func sendPing(context: ChannelHandlerContext) {
    self.isPingOutstanding = true
    var ping = ByteBuffer()
    WebSocketFrameHead.write(.ping, length: 0, to: &ping)
    context.writeAndFlush(self.wrapOutboundOut(.byteBuffer(ping)), promise: nil)
    self.timer.start(in: self.timeout, on: context.eventLoop) {
      context.abortConnection(by: .keepalive)
    }
  }
}
