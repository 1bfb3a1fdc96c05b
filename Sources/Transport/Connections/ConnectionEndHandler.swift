import NIOCore

/// Sees why a connection ends, and tells the ledger. Stands next to the socket, where it also cuts the
/// connection off when a guard asks for it.
///
/// What goes wrong above it is told by a ``ConnectionErrorHandler``. The first reason counts: what
/// follows from it is no other.
final class ConnectionEndHandler: ChannelDuplexHandler {
  typealias InboundIn = Any
  typealias OutboundIn = IOData
  typealias OutboundOut = IOData

  private let peer: String
  private let ledger: ConnectionLedger
  private var isActive = false
  private var end: (reason: ConnectionEnd, details: String?)?

  /// - Parameters:
  ///   - peer: Who is at the other end, for the log.
  ///   - ledger: For the end.
  init(peer: String, ledger: ConnectionLedger) {
    self.peer = peer
    self.ledger = ledger
  }

  /// Something ends the connection, or is about to.
  func note(_ reason: ConnectionEnd, _ details: String? = nil) {
    if self.end == nil { self.end = (reason, details) }
  }

  /// An error ends the connection, or is about to.
  func note(_ error: any Error) {
    let reason = ConnectionEnd(error)
    // Of HTTP/2's own the last one says what it was: before it comes what could not be said about it.
    if reason == .http2, self.end?.reason == .http2 { self.end = nil }
    self.note(reason, "\(error)")
  }

  func channelActive(context: ChannelHandlerContext) {
    self.isActive = true
    self.ledger.begin()
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    if self.isActive {
      self.isActive = false
      // Nobody here has closed it, and nothing has failed.
      self.note(.client)
      if let end { self.ledger.record(end.reason, end.details, of: self.peer) }
    }
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    self.note(error)
    context.fireErrorCaught(error)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    // What a write fails of closes the connection, and is told to those who wait for it only.
    let promise = promise ?? context.eventLoop.makePromise()
    promise.futureResult.assumeIsolated().whenFailure { error in
      if error is IOError { self.note(error) }
    }
    context.write(data, promise: promise)
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    self.note(.server)
    context.close(mode: mode, promise: promise)
  }

  func triggerUserOutboundEvent(
    context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
  ) {
    guard let cutOff = event as? CutOff else {
      return context.triggerUserOutboundEvent(event, promise: promise)
    }
    if let which = cutOff.by {
      self.ledger.record(which, against: context.channel.peerAddress)
      self.note(.guard, which.rawValue)
    } else {
      self.note(.server)
    }
    context.close(promise: promise)
  }
}
