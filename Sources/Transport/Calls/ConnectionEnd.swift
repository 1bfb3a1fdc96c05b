package import Logging
import NIOCore
import NIOHTTP2
import NIOSSL
package import SidelightWire
import Synchronization

/// The reason why a connection ended, by its name in metrics and logs.
package enum ConnectionEnd: String, CaseIterable, Sendable {
  /// The client closed it.
  case client
  /// The server closed it gracefully.
  case server
  /// A guard closed it.
  case `guard`
  /// The TLS handshake or a TLS record failed.
  case tls
  /// The client violated HTTP/2.
  case http2
  /// The system reported an error of the socket, for example a reset.
  case socket
  /// An error of any other kind.
  case other

  /// Classifies the error that ends a connection.
  package init(_ error: any Error) {
    switch error {
    // Many clients close the connection without TLS's closing alert, which HTTP/2 does not need.
    case NIOSSLError.uncleanShutdown, ChannelError.eof: self = .client
    case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: self = .tls
    case is any NIOHTTP2Error: self = .http2
    case is IOError: self = .socket
    default: self = .other
    }
  }
}

/// Records why a connection ends. It is next to the socket, where it also closes the connection at
/// once when a guard asks for it.
///
/// A ``ConnectionErrorHandler`` reports the errors above it. The first reason counts; later ones
/// follow from it.
final class ConnectionEndHandler: ChannelDuplexHandler {
  typealias InboundIn = Any
  typealias OutboundIn = IOData
  typealias OutboundOut = IOData

  private let peer: String
  private let counters: ConnectionCounters
  private var isActive = false
  private var end: (reason: ConnectionEnd, details: String?)?

  /// - Parameters:
  ///   - peer: The peer, for the log.
  ///   - counters: Records the end.
  init(peer: String, counters: ConnectionCounters) {
    self.peer = peer
    self.counters = counters
  }

  /// Records a reason that ends the connection, or is about to.
  func record(_ reason: ConnectionEnd, _ details: String? = nil) {
    if self.end == nil { self.end = (reason, details) }
  }

  /// Records an error that ends the connection, or is about to.
  func record(_ error: any Error) {
    let reason = ConnectionEnd(error)
    // The last of HTTP/2's errors has the cause; earlier ones say that it could not be reported.
    if reason == .http2, self.end?.reason == .http2 { self.end = nil }
    self.record(reason, "\(error)")
  }

  func channelActive(context: ChannelHandlerContext) {
    self.isActive = true
    self.counters.begin()
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    if self.isActive {
      self.isActive = false
      // Without an earlier close by the server or an error, the client closed it.
      self.record(.client)
      if let end { self.counters.record(end.reason, end.details, of: self.peer) }
    }
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    self.record(error)
    context.fireErrorCaught(error)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    // A failed write closes the connection, and only its promise has the error.
    let promise = promise ?? context.eventLoop.makePromise()
    promise.futureResult.assumeIsolated().whenFailure { error in
      if error is IOError { self.record(error) }
    }
    context.write(data, promise: promise)
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    self.record(.server)
    context.close(mode: mode, promise: promise)
  }

  func triggerUserOutboundEvent(
    context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
  ) {
    guard let abort = event as? AbortConnection else {
      return context.triggerUserOutboundEvent(event, promise: promise)
    }
    if let guardName = abort.guardName {
      self.counters.record(guardName, against: context.channel.peerAddress)
      self.record(.guard, guardName.rawValue)
    } else {
      self.record(.server)
    }
    context.close(promise: promise)
  }
}

/// Reports errors that end a connection. It is next above HTTP/2, where all errors of the socket,
/// of TLS and of HTTP/2 pass.
///
/// Not all errors of HTTP/2 end the connection: errors of a single call pass too. An error ends the
/// connection if a handler above closes it for that error; later errors do too.
final class ConnectionErrorHandler: ChannelDuplexHandler {
  typealias InboundIn = Any
  typealias OutboundIn = Any

  private let end: ConnectionEndHandler
  /// The error that the handlers above handle at this moment.
  private var error: (any Error)?
  private var isClosing = false

  /// - Parameter end: The handler next to the same connection's socket.
  init(_ end: ConnectionEndHandler) {
    self.end = end
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if self.isClosing || ConnectionEnd(error) != .http2 { self.end.record(error) }
    self.error = error
    context.fireErrorCaught(error)
    self.error = nil
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    self.isClosing = true
    if let error { self.end.record(error) }
    context.close(mode: mode, promise: promise)
  }
}

/// The counts of a server's connections and of the actions of its guards, which it also logs. The
/// server's listeners share it.
package final class ConnectionCounters: Sendable {
  /// A snapshot of the counts.
  package struct Counts: Sendable {
    /// Open connections.
    package var open = 0
    /// Connections that have ended, by the reason.
    package var ended: [ConnectionEnd: UInt64] = [:]
    /// The number of actions per guard, without guards that have never acted.
    package var guards: [Guard: Int] = [:]
  }

  private let state = Mutex(Counts())
  private let logger: Logger

  package init(logger: Logger) {
    self.logger = logger
  }

  /// The counts so far.
  package var counts: Counts { self.state.withLock { $0 } }

  /// Records an action of a guard.
  ///
  /// - Parameter peer: The peer's address.
  func record(_ guardName: Guard, against peer: String) {
    self.state.withLock { $0.guards[guardName, default: 0] += 1 }
    // Not at a higher level: an attacker would fill the log.
    self.logger.debug(
      "a guard acted", metadata: ["guard": "\(guardName.rawValue)", "peer": "\(peer)"])
  }

  /// Records that a connection has been opened.
  func begin() {
    self.state.withLock { $0.open += 1 }
  }

  /// Records that a connection has ended.
  ///
  /// - Parameters:
  ///   - details: The guard, or the error's own description.
  ///   - peer: The peer, for the log.
  func record(_ end: ConnectionEnd, _ details: String?, of peer: String) {
    self.state.withLock { state in
      state.open -= 1
      state.ended[end, default: 0] += 1
    }
    var metadata: Logger.Metadata = ["reason": "\(end.rawValue)", "peer": "\(peer)"]
    if let details { metadata["details"] = "\(details)" }
    // Not at a higher level, not even for a failed handshake: a public port gets connections from
    // scanners all day. The counts reveal problems, and SIGHUP changes the level of the log.
    self.logger.debug("connection closed", metadata: metadata)
  }
}
