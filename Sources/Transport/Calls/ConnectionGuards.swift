package import NIOCore
package import SidelightWire
import Synchronization

/// The request to close a connection at once: TLS would wait for the peer's closing alert.
/// ``ConnectionEndHandler`` closes it.
struct AbortConnection {
  /// The guard that aborts the connection; `nil` if the server stops.
  var guardName: Guard?
}

extension ChannelHandlerContext {
  /// Closes the connection at once.
  func abortConnection(by guardName: Guard) {
    self.triggerUserOutboundEvent(AbortConnection(guardName: guardName), promise: nil)
  }
}

/// Closes a connection at once if too many are open (``Guard/connectionCap``).
///
/// The check runs when the channel becomes active: until then only the listener knows the channel.
final class ConnectionCap: ChannelInboundHandler {
  typealias InboundIn = Any

  private let budget: AddressBudget
  /// The address whose connection is counted; `nil` if the connection isn't counted.
  private var counted: String?

  /// - Parameter budget: The connections that may be open.
  init(budget: AddressBudget) {
    self.budget = budget
  }

  func channelActive(context: ChannelHandlerContext) {
    let address = context.channel.peerAddress
    if self.budget.reserve(1, for: address) {
      self.counted = address
      context.fireChannelActive()
    } else {
      context.fireChannelActive()
      context.abortConnection(by: .connectionCap)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    if let counted = self.counted.take() { self.budget.release(1, for: counted) }
    context.fireChannelInactive()
  }
}

/// Closes a connection that has not begun to speak HTTP/2 in time (``Guard/preface``). It is above
/// TLS, and sees the first bytes after the handshake.
final class PrefaceGuard: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer

  /// `PRI * HTTP/2.0`, two line ends, `SM`, two line ends; then the head of a frame, nine bytes.
  private static let minimalBytes = 24 + 9

  private let timeout: Duration
  private var timer = EventLoopTimer()
  private var received = 0

  init(timeout: Duration) {
    self.timeout = timeout
  }

  func channelActive(context: ChannelHandlerContext) {
    self.timer.start(in: self.timeout, on: context.eventLoop) {
      context.abortConnection(by: .preface)
    }
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    self.received += self.unwrapInboundIn(data).readableBytes
    context.fireChannelRead(data)
    guard self.received >= Self.minimalBytes else { return }
    self.timer.cancel()
    context.pipeline.syncOperations.removeHandler(self, promise: nil)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.timer.cancel()
  }
}

/// Sends a ping to a peer that has been silent for a while, and closes the connection if it doesn't
/// answer (``Guard/keepalive``). gRPC's transport would begin a graceful close, and wait for ever
/// for the peer to take part.
///
/// Any bytes count as an answer. An HTTP/2 answer passes: the packages above ignore answers to
/// PINGs that they did not send. A connection that the server does not read at the moment, because
/// the call of a WebSocket takes no messages, counts as not silent: the server could not see its
/// answer.
final class KeepaliveGuard: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = IOData
  typealias OutboundOut = IOData

  private let ping: ByteBuffer
  private let interval: Duration
  private let timeout: Duration
  private var timer = EventLoopTimer()
  private var lastActivity = NIODeadline.now()
  private var isReading = true
  private var isPingOutstanding = false

  /// - Parameters:
  ///   - ping: The bytes of a ping.
  ///   - interval: The silence after which a ping is sent.
  ///   - timeout: The time that the peer then has.
  init(ping: ByteBuffer, interval: Duration, timeout: Duration) {
    self.ping = ping
    self.interval = interval
    self.timeout = timeout
  }

  func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { self.wait(self.interval, context: context) }
  }

  func channelActive(context: ChannelHandlerContext) {
    self.lastActivity = .now()
    self.wait(self.interval, context: context)
    context.fireChannelActive()
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

  func handlerRemoved(context: ChannelHandlerContext) {
    self.timer.cancel()
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.timer.cancel()
    context.fireChannelInactive()
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
    context.writeAndFlush(self.wrapOutboundOut(.byteBuffer(self.ping)), promise: nil)
    self.timer.start(in: self.timeout, on: context.eventLoop) {
      context.abortConnection(by: .keepalive)
    }
  }
}

/// Closes a connection some time after the server has begun to shut down (``Guard/drain``): the
/// transport waits for streams to end and for an answer to a PING, which a dead peer never gives.
final class DrainGuard: ChannelInboundHandler {
  typealias InboundIn = Any

  private let timeout: Duration
  private var timer = EventLoopTimer()

  init(timeout: Duration) {
    self.timeout = timeout
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ChannelShouldQuiesceEvent {
      self.timer.start(in: self.timeout, on: context.eventLoop) {
        context.abortConnection(by: .drain)
      }
    }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.timer.cancel()
    context.fireChannelInactive()
  }
}

/// A quantity that peers share, in total and by address: connections, or bytes. A server's
/// listeners share one.
package final class AddressBudget: Sendable {
  private struct State {
    var limit: Int
    var limitPerAddress: Int
    var total = 0
    var byAddress: [String: Int] = [:]
  }

  private let state: Mutex<State>

  /// - Parameters:
  ///   - limit: The maximum amount in total.
  ///   - limitPerAddress: The maximum amount for one address.
  package init(limit: Int, limitPerAddress: Int) {
    self.state = Mutex(State(limit: limit, limitPerAddress: limitPerAddress))
  }

  /// Applies other limits from now on. An address that exceeds its limit keeps its reservations.
  func setLimits(limit: Int, limitPerAddress: Int) {
    self.state.withLock { state in
      state.limit = limit
      state.limitPerAddress = limitPerAddress
    }
  }

  /// Reserves an amount, which must be released.
  ///
  /// - Returns: Whether the amount was available. Otherwise the reserved amount doesn't change.
  package func reserve(_ amount: Int, for address: String) -> Bool {
    self.state.withLock { state in
      let own = state.byAddress[address, default: 0]
      guard amount <= state.limit - state.total, amount <= state.limitPerAddress - own else {
        return false
      }
      state.total += amount
      state.byAddress[address] = own + amount
      return true
    }
  }

  /// Releases an amount.
  package func release(_ amount: Int, for address: String) {
    self.state.withLock { state in
      state.total -= amount
      let own = state.byAddress[address, default: 0] - amount
      state.byAddress[address] = own > 0 ? own : nil
    }
  }
}

/// A limit on how often a connection may do something.
package typealias RateBudget = TokenBucket

extension TokenBucket {
  package init(perSecond: Double, burst: Int, at now: NIODeadline) {
    self.init(perSecond: perSecond, burst: Double(burst), at: now.sinceStart)
  }

  /// Takes 1 if it may be taken now.
  ///
  /// - Returns: Whether it was taken.
  package mutating func take(at now: NIODeadline) -> Bool {
    guard self.permits(1, at: now.sinceStart) else { return false }
    self.take(1)
    return true
  }
}

extension NIODeadline {
  fileprivate var sinceStart: Duration { .nanoseconds(Int64(clamping: self.uptimeNanoseconds)) }
}
