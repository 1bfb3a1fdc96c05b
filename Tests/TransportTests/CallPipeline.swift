import NIOCore
import NIOEmbedded
import NIOHTTP2

import SidelightTransport

/// A call's channel with only the handlers that pass messages on whole and without copies. Bytes
/// are DATA frames.
final class CallPipeline {
  /// A DATA frame that one side has written.
  struct Data: Equatable {
    var bytes: ByteBuffer
    var endStream = false
  }

  let store = OutboundMessageStore()
  let channel = EmbeddedChannel()

  init(maxMessageBytes: Int = 1 << 20) throws {
    try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    try self.store.addHandlers(toCall: self.channel, maxMessageBytes: maxMessageBytes)
  }

  deinit {
    // A channel and its pipeline keep one another alive until the channel is closed.
    _ = try? self.channel.finish(acceptAlreadyClosed: true)
  }

  /// Returns the frames that gRPC sees of received bytes.
  func receive(_ bytes: [UInt8], endStream: Bool = false) throws -> [Data] {
    try self.receive(ByteBuffer(bytes: bytes), endStream: endStream)
  }

  /// Returns the frames that gRPC sees of received bytes.
  func receive(_ bytes: ByteBuffer, endStream: Bool = false) throws -> [Data] {
    try self.channel.writeInbound(Self.frame(bytes, endStream))
    return try Self.all { try self.channel.readInbound() }
  }

  /// Returns the frames that are written for a write of gRPC.
  func send(_ bytes: [UInt8], endStream: Bool = false) throws -> [Data] {
    try self.channel.writeOutbound(Self.frame(ByteBuffer(bytes: bytes), endStream))
    return try Self.all { try self.channel.readOutbound() }
  }

  private static func frame(_ bytes: ByteBuffer, _ endStream: Bool) -> HTTP2Frame.FramePayload {
    .data(.init(data: .byteBuffer(bytes), endStream: endStream))
  }

  private static func all(
    _ next: () throws -> HTTP2Frame.FramePayload?
  ) rethrows -> [Data] {
    var found: [Data] = []
    while let payload = try next() {
      guard case .data(let data) = payload, case .byteBuffer(let bytes) = data.data else {
        continue
      }
      found.append(Data(bytes: bytes, endStream: data.endStream))
    }
    return found
  }
}

extension [CallPipeline.Data] {
  /// All bytes in order.
  var joined: [UInt8] { self.flatMap { $0.bytes.readableBytesView } }
}

/// Returns a message behind gRPC's prefix.
func framed(_ message: [UInt8]) -> [UInt8] {
  withUnsafeBytes(of: UInt32(message.count).bigEndian) { [0] + $0 } + message
}

extension ByteBuffer {
  /// The addresses of the bytes.
  var addresses: Range<UInt> {
    self.withUnsafeReadableBytes {
      let start = UInt(bitPattern: $0.baseAddress)
      return start ..< start + UInt($0.count)
    }
  }
}
