import GRPCCore
import NIOCore

/// The bytes of a message in a transport of this module. Unlike `GRPCNIOTransportBytes` it lends
/// its buffer.
struct CallBytes: GRPCContiguousBytes, Sendable, Hashable {
  /// The bytes.
  var buffer: ByteBuffer

  init(_ buffer: ByteBuffer) {
    self.buffer = buffer
  }

  init(repeating byte: UInt8, count: Int) {
    self.buffer = ByteBuffer(repeating: byte, count: count)
  }

  init(_ sequence: some Sequence<UInt8>) {
    self.buffer = ByteBuffer(bytes: sequence)
  }

  /// The number of bytes.
  var count: Int { self.buffer.readableBytes }

  func withUnsafeBytes<Result>(
    _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    try self.buffer.withUnsafeReadableBytes(body)
  }

  mutating func withUnsafeMutableBytes<Result>(
    _ body: (UnsafeMutableRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    try self.buffer.withUnsafeMutableReadableBytes(body)
  }
}
