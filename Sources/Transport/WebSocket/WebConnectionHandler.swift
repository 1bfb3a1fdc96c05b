import GRPCCore
import NIOCore
import NIOHTTP1
import SidelightWire

/// The handler of an HTTP connection: answers one request, or opens a WebSocket for a call.
///
/// A connection has only one request, which prevents clients from making the server queue
/// responses.
final class WebConnectionHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private enum Phase {
    /// The request is being received.
    case request(HTTPRequestHead?)
    /// The response is being written.
    case responding
    /// The connection is a WebSocket.
    case upgraded
  }

  private let listener: WebListener
  private let connection: Connection
  private var phase = Phase.request(nil)
  private var timer = EventLoopTimer()

  init(_ listener: WebListener, _ connection: Connection) {
    self.listener = listener
    self.connection = connection
  }

  /// Adds the handlers of HTTP to a connection. It must be called on the connection's event loop.
  static func addHandlers(
    to channel: any Channel, _ listener: WebListener, _ connection: Connection
  ) throws {
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = 8192
    limits.maxHeaderListSize = 16384
    limits.maxHeaderFieldCount = 100
    try channel.pipeline.syncOperations.addHandlers([
      HTTPResponseEncoder(),
      ByteToMessageHandler(
        HTTPRequestDecoder(
          leftOverBytesStrategy: .forwardBytes, informationalResponseStrategy: .drop,
          limitConfiguration: limits)),
      WebConnectionHandler(listener, connection),
    ])
  }

  func handlerAdded(context: ChannelHandlerContext) {
    guard let timeout = self.listener.guards.handshakeTimeout else { return }
    self.timer.start(in: timeout, on: context.eventLoop) {
      context.abortConnection(by: .preface)
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) { self.timer.cancel() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch self.phase {
    // Bytes behind the handshake.
    case .upgraded: context.fireChannelRead(data)
    case .responding: break
    case .request(let head):
      switch self.unwrapInboundIn(data) {
      case .head(let head): self.phase = .request(head)
      case .body:
        self.respond(with: .text(413, "A request must have no content."), context: context)
      case .end:
        guard let head else { return context.close(promise: nil) }
        self.answer(head, context: context)
      }
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ChannelShouldQuiesceEvent, case .request = self.phase {
      context.close(promise: nil)
    }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.timer.cancel()
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard error is HTTPParserError, case .request = self.phase else {
      return context.close(promise: nil)
    }
    self.respond(with: .text(400, "The request is not HTTP/1.1."), context: context)
  }

  // MARK: Responses

  private func answer(_ head: HTTPRequestHead, context: ChannelHandlerContext) {
    let request = WebRequest(
      method: head.method.rawValue, target: head.uri, headers: head.headers.map { $0 })
    guard WebSocketHandshake.isRequested(by: request) else {
      return self.respond(
        with: self.listener.site.response(to: request), isHead: head.method == .HEAD,
        context: context)
    }
    do throws(WebSocketHandshake.Refusal) {
      try self.upgrade(request, context: context)
    } catch {
      self.respond(with: error.response, context: context)
    }
  }

  private func respond(
    with response: WebResponse, isHead: Bool = false, context: ChannelHandlerContext
  ) {
    self.phase = .responding
    // Another guard handles a client that doesn't read the response.
    self.timer.cancel()
    var headers = HTTPHeaders(response.headers)
    headers.replaceOrAdd(name: "content-length", value: String(response.body.count))
    headers.replaceOrAdd(name: "connection", value: "close")
    let head = HTTPResponseHead(
      version: .http1_1, status: HTTPResponseStatus(statusCode: response.status), headers: headers)
    context.write(self.wrapOutboundOut(.head(head)), promise: nil)
    if !isHead {
      context.write(
        self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: response.body)))), promise: nil)
    }
    context.writeAndFlush(self.wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { _ in
      context.close(promise: nil)
    }
  }

  // MARK: WebSockets

  private func upgrade(
    _ request: WebRequest, context: ChannelHandlerContext
  ) throws(WebSocketHandshake.Refusal) {
    let handshake = try WebSocketHandshake(request)
    var metadata = handshake.metadata
    switch self.listener.site.admission(of: request) {
    case .refused(let response): throw WebSocketHandshake.Refusal(response)
    case .accepted(let authorization):
      for value in authorization { metadata.addString(value, forKey: "authorization") }
    }
    guard let method = self.listener.calls.method(at: request.path) else {
      throw WebSocketHandshake.Refusal(.text(404, "The server has no method \(request.path)."))
    }
    let cancellation = CallCancellation()
    let call = WebSocketCall(
      descriptor: method, metadata: metadata, timeout: handshake.timeout,
      origin: CallOrigin(
        connection: self.connection, stream: context.channel,
        store: self.listener.connections.messages, cancellation: cancellation),
      store: self.listener.connections.messages, cancellation: cancellation)
    self.phase = .upgraded
    self.timer.cancel()
    let headers: HTTPHeaders = [
      "upgrade": "websocket", "connection": "upgrade", "sec-websocket-accept": handshake.accept,
      "sec-websocket-protocol": WebSocketHandshake.subprotocol,
    ]
    context.write(
      self.wrapOutboundOut(
        .head(HTTPResponseHead(version: .http1_1, status: .switchingProtocols, headers: headers))),
      promise: nil)
    context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
    self.replaceHandlers(with: call, path: request.path, context: context)
  }

  /// Replaces the HTTP handlers with WebSocket handlers.
  private func replaceHandlers(
    with call: WebSocketCall, path: String, context: ChannelHandlerContext
  ) {
    let channel = context.channel
    let pipeline = channel.pipeline.syncOperations
    let guards = self.listener.guards
    let limiter = guards.limiter(of: channel)
    limiter.begin(path: path)
    do {
      if let keepalive = guards.keepalive(ping: WebSocketFrameHead.ping) {
        try pipeline.addHandler(keepalive)
      }
      try pipeline.addHandler(WebSocketCallHandler(call, limiter, pings: guards.pingBudget))
      // The decoder passes on the bytes that follow the handshake when it is removed.
      let decoder = try pipeline.context(
        handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self)
      let encoder = try pipeline.context(handlerType: HTTPResponseEncoder.self)
      pipeline.removeHandler(context: encoder, promise: nil)
      pipeline.removeHandler(context: decoder, promise: nil)
      pipeline.removeHandler(self, promise: nil)
      self.listener.calls.accept(call, on: channel)
    } catch {
      channel.close(promise: nil)
    }
  }
}
