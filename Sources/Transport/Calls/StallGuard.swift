package import NIOCore
import SidelightWire

/// Closes a connection whose peer stops reading from its socket while bytes wait for it
/// (``Guard/connectionStall``). It is next to the socket, and sees the bytes that are really
/// written.
final class ConnectionStallGuard: ChannelDuplexHandler {
  typealias InboundIn = Any
  typealias OutboundIn = IOData
  typealias OutboundOut = IOData

  private var stallDetector: StallDetector
  private var timer = EventLoopTimer()
  private var isCheckingProgress = false
  private var written = 0

  init(timeout: Duration) {
    self.stallDetector = StallDetector(timeout: timeout)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    self.written += self.unwrapOutboundIn(data).readableBytes
    context.write(data, promise: promise)
    guard !self.isCheckingProgress else { return }
    self.isCheckingProgress = true
    self.stallDetector.begin(at: .now())
    self.checkProgress(context: context)
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.timer.cancel()
    context.fireChannelInactive()
  }

  private func checkProgress(context: ChannelHandlerContext) {
    self.timer.start(in: self.stallDetector.interval, on: context.eventLoop) {
      let options = context.channel.syncOptions
      let waiting = (try? options?.getOption(.bufferedWritableBytes)) ?? 0
      if waiting == 0 {
        self.isCheckingProgress = false
      } else if self.stallDetector.isStalled(taken: self.written - waiting, at: .now()) {
        context.abortConnection(by: .connectionStall)
      } else {
        self.checkProgress(context: context)
      }
    }
  }
}

/// The progress of a peer that takes written bytes. A timer checks it at intervals, which keeps
/// writes free of overhead.
package struct StallDetector: Sendable {
  private let timeout: Duration
  private var taken = 0
  private var lastProgress = NIODeadline.now()

  package init(timeout: Duration) {
    self.timeout = timeout
  }

  /// The time between two checks, and so the longest delay until a stall is detected.
  var interval: Duration { self.timeout / 6 }

  /// Starts the detection: the peer has something to take from now on.
  package mutating func begin(at now: NIODeadline) {
    self.lastProgress = now
  }

  /// Checks the progress.
  ///
  /// - Parameter taken: The bytes that the peer has taken so far.
  /// - Returns: Whether the peer has been stalled for longer than the timeout.
  package mutating func isStalled(taken: Int, at now: NIODeadline) -> Bool {
    if taken != self.taken {
      self.taken = taken
      self.lastProgress = now
    }
    return Duration(now - self.lastProgress) >= self.timeout
  }
}

/// A timer on a channel's event loop. It must be used on that loop only.
struct EventLoopTimer {
  private var scheduled: Scheduled<Void>?

  /// Calls `body` once. Replaces the closure of the previous call.
  mutating func start(
    in duration: Duration, on eventLoop: any EventLoop, _ body: @escaping () -> Void
  ) {
    self.cancel()
    self.scheduled = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(duration), body)
  }

  /// Cancels the call.
  mutating func cancel() {
    self.scheduled?.cancel()
    self.scheduled = nil
  }
}
