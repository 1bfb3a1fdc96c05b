import NIOCore
import SidelightTestSupport
import SidelightWire

/// The protocol that carries a call.
enum Carrier: Sendable {
  case http2
  case webSocket
}

/// The client of a call of `Process`, over either protocol, which may violate the limits of calls.
protocol CallPeer: Sendable {
  /// Sends a message.
  ///
  /// - Parameter length: The announced length; `nil` announces the true one.
  func send(message bytes: [UInt8], length: Int?) async throws

  /// Waits for the next outcome of the call.
  func outcome() async throws -> CallOutcome
}

extension CallPeer {
  /// Sends a message.
  func send(message bytes: [UInt8]) async throws {
    try await self.send(message: bytes, length: nil)
  }
}

/// The outcome of a call.
enum CallOutcome: Equatable {
  case status(Int)
  /// The server has reset the call; the calls of WebSockets are reset by closing the connection.
  case reset
  /// The server has sent a keepalive ping, but nothing of the call.
  case none
  /// The connection is closed.
  case closed
}

/// Begins a call of `Process`, and closes the connection when `body` is done.
///
/// - Parameters:
///   - timeout: The value of `grpc-timeout`.
///   - reads: Whether it takes the messages of the server.
func withCallPeer<Result: Sendable>(
  _ address: Address, over carrier: Carrier, timeout: String? = nil, reads: Bool = true,
  _ body: @Sendable (any CallPeer) async throws -> Result
) async throws -> Result {
  let headers = timeout.map { [("grpc-timeout", $0)] } ?? []
  switch carrier {
  case .http2:
    // The windows of HTTP/2 hold back the messages of the server unless the client enlarges them.
    return try await withRawPeer(address) { peer in
      peer.send(RawPeer.preface)
      peer.call(Attack.process, headers: headers)
      return try await body(HTTP2CallPeer(peer: peer))
    }
  case .webSocket:
    return try await WebPeer.with(address, receiveBufferBytes: reads ? nil : 4096) { peer in
      _ = try await peer.open(Attack.process, headers)
      return try await body(WebSocketCallPeer(peer: peer))
    }
  }
}

private struct HTTP2CallPeer: CallPeer {
  let peer: RawPeer

  func send(message bytes: [UInt8], length: Int?) {
    var framed = RawPeer.message(bytes, length: length)
    while let part = framed.readSlice(length: min(16384, framed.readableBytes)),
      part.readableBytes > 0
    {
      self.peer.data(part)
    }
  }

  func outcome() async -> CallOutcome { await self.peer.outcome() }
}

extension RawPeer {
  /// Waits for the next outcome of a call.
  func outcome(stream: UInt32 = 1) async -> CallOutcome {
    let frame = await self.next {
      $0.isKeepalive || $0.stream == stream && ($0.isReset || $0.status != nil)
    }
    guard let frame else { return .closed }
    return frame.status.map(CallOutcome.status) ?? (frame.isReset ? .reset : .none)
  }
}

private struct WebSocketCallPeer: CallPeer {
  let peer: WebPeer

  func send(message bytes: [UInt8], length: Int?) async throws {
    try await self.peer.send(clientFrame(WebPeer.Frame.binary, bytes, length: length))
  }

  func outcome() async throws -> CallOutcome {
    while let frame = try await self.peer.frame() {
      switch frame.closeCode {
      // The close frame of a message that is too long has a code of RFC 6455.
      case 1009: return .status(8)
      case let code?: return .status(code - 4000)
      case nil where frame.opcode == WebPeer.Frame.ping: return .none
      case nil: break
      }
    }
    return .reset
  }
}
