package import GRPCCore
import GRPCNIOTransportHTTP2Posix
package import NIOCore
package import SidelightKernels

extension PixelBuffer {
  /// Pixels that lie within bytes that came. They stay there, and keep the bytes alive, where the
  /// type of bytes is known to hold them at one place; else they are copied.
  package convenience init<Bytes: GRPCContiguousBytes>(_ range: Range<Int>, of bytes: Bytes) {
    guard Bytes.self == GRPCNIOTransportBytes.self || Bytes.self == [UInt8].self else {
      self.init(range, of: bytes.withUnsafeBytes { [UInt8]($0) })
      return
    }
    // Both types keep their bytes in a heap object, which moves for no one while it is only read.
    let start = bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(mutating: $0) }
    self.init(
      UnsafeMutableRawBufferPointer(rebasing: start[range]), of: ReceivedBytes(bytes, range))
  }

  /// Room for pixels that the transport can send from where they lie. Not filled with zeros.
  package convenience init(transportable byteCount: Int) {
    let buffer = WritableByteBuffer(unwritten: byteCount)
    self.init(buffer.bytes, of: buffer)
  }

  /// The same bytes, where the transport can send them from where they lie and that is worth while.
  package var transportBytes: ByteBuffer? {
    guard self.byteCount >= FramedMessage.claimedByteCount else { return nil }
    return switch self.origin {
    case let writable as WritableByteBuffer: writable.buffer
    case let received as ReceivedBytes: received.transportBytes
    default: nil
    }
  }

  /// Writes another's bytes here.
  ///
  /// - Precondition: There is room for them, and nobody else reads or writes here.
  package func copy(_ other: PixelBuffer) {
    precondition(self.byteCount >= other.byteCount, "there is no room for the pixels")
    self.bytes.copyMemory(from: UnsafeRawBufferPointer(other.bytes))
  }
}

/// Bytes that came, and where pixels lie in them.
private struct ReceivedBytes: @unchecked Sendable {  // only read
  private let bytes: Any
  private let range: Range<Int>

  init(_ bytes: some GRPCContiguousBytes, _ range: Range<Int>) {
    self.bytes = bytes
    self.range = range
  }

  /// The pixels, unless other things that came with them would be kept for them.
  ///
  /// gRPC's type of bytes is a `ByteBuffer` that it keeps to itself. This asks for its parts; if they are
  /// others one day, there is none, and pixels are copied.
  var transportBytes: ByteBuffer? {
    guard self.bytes is GRPCNIOTransportBytes,
      let message = Mirror(reflecting: self.bytes).children.first?.value as? ByteBuffer,
      self.range.count >= message.readableBytes / 2
    else { return nil }
    return message.getSlice(
      at: message.readerIndex + self.range.lowerBound, length: self.range.count)
  }
}
