import NIOCore
import NIOPosix
package import SidelightServer
package import SidelightTransport
package import SidelightWire
import SwiftProtobuf

/// A connection to a studio that sends bytes as a test states them, and parses the server's frames
/// byte by byte, as RFC 6455 describes them.
package struct WebPeer: Sendable {
  /// A frame of the server.
  package struct Frame: Hashable, Sendable {
    package var opcode: UInt8
    package var content: [UInt8]

    package init(opcode: UInt8, content: [UInt8]) {
      self.opcode = opcode
      self.content = content
    }

    package static let text: UInt8 = 1
    package static let binary: UInt8 = 2
    package static let close: UInt8 = 8
    package static let ping: UInt8 = 9
    package static let pong: UInt8 = 10

    /// The code of a close frame.
    package var closeCode: Int? {
      guard self.opcode == Self.close, self.content.count >= 2 else { return nil }
      return Int(self.content[0]) << 8 | Int(self.content[1])
    }
  }

  private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
  private let input: Input

  /// The received bytes that were not parsed. One task uses it at a time.
  private final class Input: @unchecked Sendable {  // used by one task
    var iterator: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    var bytes = ByteBuffer()

    init(_ stream: NIOAsyncChannelInboundStream<ByteBuffer>) {
      self.iterator = stream.makeAsyncIterator()
    }
  }

  /// Runs `body` with a connection to a studio.
  ///
  /// - Parameter receiveBufferBytes: The size of the kernel's buffer for received bytes; `nil`
  ///   leaves it to the kernel.
  package static func with<Result: Sendable>(
    _ address: Address, receiveBufferBytes: Int? = nil,
    _ body: @Sendable (WebPeer) async throws -> Result
  ) async throws -> Result {
    guard case .tcp(let host, let port) = address else { fatalError("only TCP") }
    var bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
    if let receiveBufferBytes {
      let size = SocketOptionValue(receiveBufferBytes)
      bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: size)
    }
    let channel = try await bootstrap.connect(host: host, port: port) { channel in
      channel.eventLoop.makeCompletedFuture {
        try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
      }
    }
    return try await channel.executeThenClose { inbound, outbound in
      try await body(WebPeer(outbound: outbound, input: Input(inbound)))
    }
  }

  package func send(_ bytes: [UInt8]) async throws {
    try await self.outbound.write(ByteBuffer(bytes: bytes))
  }

  /// Sends a message as one masked frame.
  package func send(_ message: Sidelight_V1_ClientMessage) async throws {
    try await self.send(clientFrame(Frame.binary, try message.serializedBytes()))
  }

  /// Sends a request, and reads the head of the response.
  ///
  /// - Returns: The status code; 0 if the connection ends before.
  package func request(_ path: String, _ headers: [(String, String)]) async throws -> Int {
    let fields = headers.map { "\($0): \($1)\r\n" }.joined()
    do {
      try await self.send(Array("GET \(path) HTTP/1.1\r\n\(fields)\r\n".utf8))
    } catch ChannelError.ioOnClosedChannel {
      return 0
    }
    let words = try await self.skipHead().split(separator: " ")
    return words.count > 1 ? Int(words[1]) ?? 0 : 0
  }

  /// Reads the head of a response.
  package func skipHead() async throws -> String {
    var head: [UInt8] = []
    while !head.suffix(4).elementsEqual("\r\n\r\n".utf8), let byte = try await self.byte() {
      head.append(byte)
    }
    return String(decoding: head, as: UTF8.self)
  }

  /// Opens a WebSocket for a call, using the rights of a bearer token.
  ///
  /// - Parameter headers: Additional fields of the request.
  package func open(
    _ path: String = "/sidelight.v1.FrameFilter/Process", _ headers: [(String, String)] = []
  ) async throws -> Int {
    try await self.request(
      path,
      [
        ("Host", "localhost"), ("Connection", "keep-alive, Upgrade"), ("Upgrade", "WebSocket"),
        ("Sec-WebSocket-Version", "13"), ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("Sec-WebSocket-Protocol", "sidelight.v1, bearer.abc"),
      ] + headers)
  }

  /// The next frame; `nil` if the connection ends.
  package func frame() async throws -> Frame? {
    guard let first = try await self.byte(), let second = try await self.byte() else { return nil }
    var length = Int(second & 0x7F)
    let lengthBytes = length == 126 ? 2 : length == 127 ? 8 : 0
    if lengthBytes > 0 { length = 0 }
    for _ in 0 ..< lengthBytes { length = length << 8 | Int(try await self.byte() ?? 0) }
    while self.input.bytes.readableBytes < length, try await self.more() {}
    guard let content = self.input.bytes.readBytes(length: length) else { return nil }
    return Frame(opcode: first & 0x0F, content: content)
  }

  /// The next message of the session; `nil` if the server closes the WebSocket.
  package func message() async throws -> Sidelight_V1_ServerMessage? {
    while let frame = try await self.frame(), frame.opcode != Frame.close {
      guard frame.opcode == Frame.binary else { continue }
      return try Sidelight_V1_ServerMessage(serializedBytes: frame.content)
    }
    return nil
  }

  /// Reads to the end of the connection.
  ///
  /// - Returns: The code of the close frame; `nil` if the connection ended without one.
  package func closeCode() async throws -> Int? {
    var code: Int?
    while let frame = try await self.frame() { code = frame.closeCode ?? code }
    return code
  }

  private func byte() async throws -> UInt8? {
    while self.input.bytes.readableBytes == 0 {
      guard try await self.more() else { return nil }
    }
    return self.input.bytes.readInteger()
  }

  /// Receives more bytes.
  ///
  /// - Returns: Whether bytes arrived before the end.
  private func more() async throws -> Bool {
    // A connection that the server resets has ended too.
    guard var bytes = try? await self.input.iterator.next() else { return false }
    self.input.bytes.writeBuffer(&bytes)
    return true
  }
}

/// A site without pages, whose WebSockets need a bearer token.
package struct TokenSite: WebSite {
  package init() {}

  package func response(to request: WebRequest) -> WebResponse {
    .text(404, "There are no pages.")
  }

  package func admission(of request: WebRequest) -> WebSocketAdmission {
    request.elements(of: "sec-websocket-protocol").contains("bearer.abc")
      ? .accepted(authorization: []) : .refused(.text(401, "A token is missing."))
  }

  /// An endpoint with the site, on a port of the system's choice.
  package static var endpoint: WebEndpoint {
    WebEndpoint(address: .tcp(host: "127.0.0.1", port: 0), site: Self())
  }
}

/// Returns a masked frame of a client.
///
/// - Parameter length: The announced length, if it is not the true one.
package func clientFrame(
  _ opcode: UInt8, _ content: [UInt8] = [], isFinal: Bool = true, length: Int? = nil
) -> [UInt8] {
  let key: [UInt8] = [0xA5, 0x5A, 0x0F, 0xF0]
  var bytes = [(isFinal ? 0x80 : 0) | opcode]
  let length = length ?? content.count
  switch length {
  case ...125: bytes.append(0x80 | UInt8(length))
  case ...0xFFFF: bytes += [0x80 | 126, UInt8(length >> 8), UInt8(length & 0xFF)]
  default:
    bytes.append(0x80 | 127)
    bytes += (0 ..< 8).reversed().map { UInt8(length >> (8 * $0) & 0xFF) }
  }
  return bytes + key + content.enumerated().map { $1 ^ key[$0 & 3] }
}
