import GRPCCore
package import NIOCore

/// A message behind the prefix that gRPC puts before each, in the pieces that it lies in
/// (Length-Prefixed-Message: github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
package struct FramedMessage: Sendable {
  /// A flag that says whether the message is compressed, and its length in four bytes.
  package static let prefixByteCount = 5

  /// Messages shorter than that are copied, and share a write with others: that takes less time than to
  /// send them apart.
  static let claimedByteCount = 64 << 10

  /// What goes onto the stream, in this order; the first piece begins with the prefix.
  package let pieces: [ByteBuffer]

  /// - Parameter pieces: The first begins with a prefix that says how long the message is.
  init(_ pieces: [ByteBuffer]) {
    self.pieces = pieces
  }

  /// The bytes of the message, without its prefix.
  package var byteCount: Int {
    self.pieces.reduce(-Self.prefixByteCount) { $0 + $1.readableBytes }
  }

  /// A copy of the message, without its prefix.
  func joined<Bytes: GRPCContiguousBytes>() -> Bytes {
    var joined = self.pieces[0]
    joined.reserveCapacity(Self.prefixByteCount + self.byteCount)
    for piece in self.pieces.dropFirst() { joined.writeImmutableBuffer(piece) }
    return Bytes(joined.readableBytesView.dropFirst(Self.prefixByteCount))
  }
}

extension ByteBuffer {
  /// Begins a message that is not compressed.
  mutating func writePrefix(ofMessageWith byteCount: Int) {
    self.writeMultipleIntegers(UInt8(0), UInt32(byteCount))
  }
}
