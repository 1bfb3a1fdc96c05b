import NIOCore
import NIOHPACK
import NIOPosix
import NIOSSL
import SidelightTestSupport
import SidelightWire

/// A client that writes HTTP/2 byte by byte, which allows it to violate the protocol. It does not
/// send responses automatically.
struct RawPeer {
  /// A frame that the server sent.
  struct Frame {
    var kind: UInt8
    var flags: UInt8
    var stream: UInt32
    var payload: ByteBuffer
    /// The fields of a HEADERS frame.
    var headers = HPACKHeaders()

    /// The status with which a call ends; `nil` if it does not.
    var status: Int? { self.headers.first(name: "grpc-status").flatMap { Int($0) } }
    var isPing: Bool { self.kind == 6 }
    /// Whether it is a keepalive PING of the server, not of the HTTP/2 stack.
    var isKeepalive: Bool { self.isPing && self.flags == 0 && self.payload == .init(integer: 0) }
    var isPingAnswer: Bool { self.kind == 6 && self.flags & 1 == 1 }
    var isReset: Bool { self.kind == 3 }
    var isGoAway: Bool { self.kind == 7 }
    var isData: Bool { self.kind == 0 }
  }

  /// The server's view of the connection.
  let channel: any Channel
  /// The frames that the server sends; ends when it has closed the connection.
  let frames: AsyncStream<Frame>

  /// The client's preface and empty settings.
  static let preface = ByteBuffer(string: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").appending(
    Self.frame(4, flags: 0, stream: 0))

  /// Sends arbitrary bytes.
  func send(_ bytes: ByteBuffer) {
    self.channel.writeAndFlush(bytes, promise: nil)
  }

  /// Begins a call. `isEnd` closes the client's side.
  func call(
    _ path: String, stream: UInt32 = 1, isEnd: Bool = false, headers: [(String, String)] = []
  ) {
    var block = ByteBuffer()
    let always = [
      (":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "test"),
      ("content-type", "application/grpc"), ("te", "trailers"),
    ]
    for (name, value) in always + headers {
      // A literal without indexing and with a new name, the simplest form of HPACK.
      block.writeInteger(UInt8(0))
      block.writeLiteral(name)
      block.writeLiteral(value)
    }
    self.send(Self.frame(1, flags: isEnd ? 5 : 4, stream: stream, block))
  }

  /// Sends a part of a call's messages.
  func data(_ bytes: ByteBuffer, stream: UInt32 = 1, isEnd: Bool = false) {
    self.send(Self.frame(0, flags: isEnd ? 1 : 0, stream: stream, bytes))
  }

  /// Sends a PING.
  func ping() {
    self.send(Self.frame(6, flags: 0, stream: 0, ByteBuffer(integer: UInt64(1))))
  }

  /// A message in gRPC's frame.
  ///
  /// - Parameter length: The declared length, if it is not the true one.
  static func message(_ bytes: [UInt8], length: Int? = nil) -> ByteBuffer {
    var buffer = ByteBuffer()
    buffer.writeMultipleIntegers(UInt8(0), UInt32(length ?? bytes.count))
    buffer.writeBytes(bytes)
    return buffer
  }

  /// A frame.
  static func frame(
    _ kind: UInt8, flags: UInt8, stream: UInt32, _ payload: ByteBuffer = ByteBuffer()
  ) -> ByteBuffer {
    var frame = ByteBuffer()
    let length = payload.readableBytes
    frame.writeMultipleIntegers(
      UInt8(length >> 16), UInt16(truncatingIfNeeded: length), kind, flags, stream)
    return frame.appending(payload)
  }

  /// Returns the next frame that meets a condition; `nil` if the server closes the connection
  /// first.
  func next(where isWished: (Frame) -> Bool) async -> Frame? {
    for await frame in self.frames where isWished(frame) { return frame }
    return nil
  }

  /// The status with which a call ends; `nil` if the server closes the connection first.
  func status(stream: UInt32 = 1) async -> Int? {
    await self.next { $0.stream == stream && $0.status != nil }?.status
  }

  /// Continues to read, after the limit given to ``withRawPeer(_:reads:readsFirst:isPlain:_:)``.
  func readOn() {
    self.channel.triggerUserOutboundEvent(ReadValve.Open(), promise: nil)
  }

  /// Waits until the server has closed the connection.
  func end() async {
    for await _ in self.frames {}
  }
}

extension ByteBuffer {
  /// These bytes and then others.
  func appending(_ other: ByteBuffer) -> ByteBuffer {
    var both = self
    var other = other
    both.writeBuffer(&other)
    return both
  }

  fileprivate mutating func writeLiteral(_ text: String) {
    precondition(text.utf8.count < 127)
    self.writeInteger(UInt8(text.utf8.count))
    self.writeString(text)
  }
}

/// Connects to a server, and closes the connection when `body` is done.
///
/// - Parameters:
///   - reads: Whether it reads the server's bytes from its socket; `false` with TLS takes effect
///     after the handshake.
///   - readsFirst: The approximate number of bytes after which it reads no more until released;
///     `nil` disables the limit.
///   - isPlain: Whether it uses no TLS, even if the test does.
func withRawPeer<Result: Sendable>(
  _ address: Address, reads: Bool = true, readsFirst: Int? = nil, isPlain: Bool = false,
  _ body: (RawPeer) async throws -> Result
) async throws -> Result {
  guard case .tcp(let host, let port) = address else { fatalError("only TCP") }
  let (frames, continuation) = AsyncStream<RawPeer.Frame>.makeStream()
  let tls = isPlain ? nil : TestSecurity.current?.peer
  let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
    .channelOption(.autoRead, value: reads || tls != nil)
    .channelOption(.socketOption(.so_rcvbuf), value: reads && readsFirst == nil ? 1 << 20 : 4096)
    .channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        if let readsFirst {
          try channel.pipeline.syncOperations.addHandler(ReadValve(bytes: readsFirst))
        }
        if let tls {
          try channel.pipeline.syncOperations.addHandler(
            try NIOSSLClientHandler(context: tls, serverHostname: nil))
        }
        try channel.pipeline.syncOperations.addHandler(
          ByteToMessageHandler(FrameDecoder(frames: continuation)))
      }
    }
    .connect(host: host, port: port).get()
  if tls != nil, !reads {
    // The write completes after the handshake.
    try await channel.writeAndFlush(ByteBuffer()).get()
    try await channel.setOption(.autoRead, value: false).get()
  }
  let result: Swift.Result<Result, any Error>
  do {
    result = .success(try await body(RawPeer(channel: channel, frames: frames)))
  } catch {
    result = .failure(error)
  }
  try? await channel.close().get()
  return try result.get()
}

/// Reads a number of bytes, and the rest once it is opened. It is next to the socket.
private final class ReadValve: ChannelDuplexHandler {
  struct Open {}
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = Never

  private var left: Int
  private var isHolding = false

  init(bytes: Int) {
    self.left = bytes
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    self.left -= self.left == .max ? 0 : self.unwrapInboundIn(data).readableBytes
    context.fireChannelRead(data)
  }

  func read(context: ChannelHandlerContext) {
    if self.left > 0 { context.read() } else { self.isHolding = true }
  }

  func triggerUserOutboundEvent(
    context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
  ) {
    guard event is Open else {
      return context.triggerUserOutboundEvent(event, promise: promise)
    }
    self.left = .max
    if self.isHolding { context.read() }
    promise?.succeed()
  }
}

private struct FrameDecoder: ByteToMessageDecoder {
  typealias InboundOut = Never

  let frames: AsyncStream<RawPeer.Frame>.Continuation
  private var headers = HPACKDecoder(allocator: ByteBufferAllocator())

  init(frames: AsyncStream<RawPeer.Frame>.Continuation) {
    self.frames = frames
  }

  mutating func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) -> DecodingState {
    let start = buffer.readerIndex
    guard let head = buffer.getInteger(at: start, as: UInt32.self),
      buffer.readableBytes >= 9 + Int(head >> 8),
      let flags = buffer.getInteger(at: start + 4, as: UInt8.self),
      let stream = buffer.getInteger(at: start + 5, as: UInt32.self),
      let payload = buffer.getSlice(at: start + 9, length: Int(head >> 8))
    else { return .needMoreData }
    buffer.moveReaderIndex(forwardBy: 9 + Int(head >> 8))
    var frame = RawPeer.Frame(
      kind: UInt8(head & 0xFF), flags: flags, stream: stream, payload: payload)
    var block = payload
    if frame.kind == 1 { frame.headers = (try? self.headers.decodeHeaders(from: &block)) ?? [:] }
    self.frames.yield(frame)
    return .continue
  }

  mutating func decodeLast(
    context: ChannelHandlerContext, buffer: inout ByteBuffer, seenEOF: Bool
  ) -> DecodingState {
    while case .continue = self.decode(context: context, buffer: &buffer) {}
    self.frames.finish()
    return .needMoreData
  }
}
