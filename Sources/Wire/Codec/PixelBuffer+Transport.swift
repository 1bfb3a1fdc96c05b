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
    let pixels = UnsafeMutableRawBufferPointer(rebasing: start[range])
    if let origin = ByteBuffer(range, of: bytes) {
      self.init(pixels, of: origin)
    } else {
      self.init(pixels, of: Kept(bytes: bytes))
    }
  }

  /// Room for pixels that the transport can send from where they lie. Not filled with zeros.
  package convenience init(transportable byteCount: Int) {
    let buffer = ByteBuffer(unwritten: byteCount)
    self.init(
      UnsafeMutableRawBufferPointer(start: buffer.writableStart, count: byteCount), of: buffer)
  }

  /// The same bytes, where the transport can send them from where they lie and that is worth while.
  package var transportBytes: ByteBuffer? {
    guard self.byteCount >= FramedMessage.claimedByteCount else { return nil }
    return self.origin as? ByteBuffer
  }

  /// Writes another's bytes here.
  ///
  /// - Precondition: There is room for them, and nobody else reads or writes here.
  package func copy(_ other: PixelBuffer) {
    precondition(self.byteCount >= other.byteCount, "there is no room for the pixels")
    self.bytes.copyMemory(from: UnsafeRawBufferPointer(other.bytes))
  }

  private struct Kept: @unchecked Sendable {  // never used
    let bytes: Any
  }
}

extension ByteBuffer {
  /// Pixels that lie within bytes that came.
  ///
  /// gRPC's type of bytes is a `ByteBuffer` that it keeps to itself. This asks for its parts; if they are
  /// others one day, there is none, and pixels are copied.
  fileprivate init?<Bytes: GRPCContiguousBytes>(_ range: Range<Int>, of bytes: Bytes) {
    guard range.count >= FramedMessage.claimedByteCount, Bytes.self == GRPCNIOTransportBytes.self,
      let buffer = Mirror(reflecting: bytes).children.first?.value as? ByteBuffer,
      let pixels = buffer.getSlice(at: buffer.readerIndex + range.lowerBound, length: range.count)
    else { return nil }
    self = pixels
  }

  /// Bytes that will be written later. They are not filled with zeros first: that pass over memory would
  /// cost half of what a copy costs.
  init(unwritten byteCount: Int) {
    self.init()
    self.writeWithUnsafeMutableBytes(minimumWritableBytes: byteCount) { _ in byteCount }
  }

  /// Where its bytes begin. They lie on the heap, and move for no one while they are only read.
  var writableStart: UnsafeMutableRawPointer {
    self.withUnsafeReadableBytes {
      UnsafeMutableRawPointer(mutating: $0.baseAddress.unsafelyUnwrapped)
    }
  }
}
