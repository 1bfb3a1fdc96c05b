import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// Reports when an event loop has polled its sockets. It must be used on that loop only.
///
/// NIO's event loops run tasks until their queue is empty, and only then poll again: tasks that
/// keep scheduling more tasks starve every socket of the loop, and neither `execute` nor a timer
/// can tell that a poll has happened. A byte that travels through a pipe of the loop can.
final class EventLoopTick {
  private let loop: any EventLoop
  private var channel: (any Channel)?
  private var waiting: [() -> Void] = []

  init(_ loop: any EventLoop) {
    self.loop = loop
  }

  deinit { self.channel?.close(promise: nil) }

  /// Calls `body` once, after the next poll. The order of calls is kept.
  func afterPoll(_ body: @escaping () -> Void) {
    self.waiting.append(body)
    // One byte serves all waiting closures.
    if self.waiting.count == 1 { self.sendByte() }
  }

  private func sendByte() {
    guard let channel = self.channel ?? self.openPipe() else {
      // Without a free descriptor a poll cannot be noticed; continuing is better than waiting for
      // ever.
      return self.loop.assumeIsolated().execute { self.run() }
    }
    self.channel = channel
    channel.writeAndFlush(ByteBuffer(integer: UInt8(0)), promise: nil)
  }

  private func run() {
    let bodies = self.waiting
    self.waiting = []
    for body in bodies { body() }
  }

  /// The pipe, as a channel on the loop; `nil` if it cannot be opened.
  private func openPipe() -> (any Channel)? {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let handler = NIOLoopBound(ByteHandler { [weak self] in self?.run() }, eventLoop: self.loop)
    let opened = NIOPipeBootstrap(group: self.loop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(handler.value)
        }
      }
      .takingOwnershipOfDescriptors(input: ends[0], output: ends[1])
    // On its own loop the channel is open at once.
    var channel: (any Channel)?
    opened.assumeIsolated().whenSuccess { channel = $0 }
    return channel
  }

  /// Calls a closure once per read of the pipe, regardless of the number of bytes.
  private final class ByteHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let onRead: () -> Void

    init(_ onRead: @escaping () -> Void) {
      self.onRead = onRead
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { self.onRead() }
  }
}

/// The ``EventLoopTick``s of a server's event loops.
final class EventLoopTicks: Sendable {
  private let ticks = Mutex<[ObjectIdentifier: NIOLoopBound<EventLoopTick>]>([:])

  /// Returns the ticks of a loop. It must be called on that loop.
  func tick(of loop: any EventLoop) -> EventLoopTick {
    self.ticks.withLock { ticks in
      if let tick = ticks[ObjectIdentifier(loop)] { return tick }
      let tick = NIOLoopBound(EventLoopTick(loop), eventLoop: loop)
      ticks[ObjectIdentifier(loop)] = tick
      return tick
    }.value
  }
}
