package import GRPCCore
import GRPCNIOTransportHTTP2Posix
package import NIOCore
package import SidelightKernels

extension PixelBuffer {
  /// Pixels that lie within received bytes. They stay there, and keep the bytes alive, if the bytes
  /// are the transport's own; otherwise they are copied.
  convenience init<Bytes: GRPCContiguousBytes>(_ range: Range<Int>, of bytes: Bytes) {
    if let received = ReceivedBytes(bytes, range) {
      self.init(received.pixels, of: received)
    } else {
      let copy = bytes.withUnsafeBytes { WritableByteBuffer($0[range]) }
      self.init(copy.bytes, of: copy)
    }
  }

  package convenience init(copying bytes: UnsafeRawBufferPointer) {
    let buffer = WritableByteBuffer(bytes[...])
    self.init(buffer.bytes, of: buffer)
  }

  package convenience init(copying bytes: [UInt8]) {
    let buffer = WritableByteBuffer(bytes)
    self.init(buffer.bytes, of: buffer)
  }

  /// Memory for pixels that the transport can send without copying. It is not filled with zeros.
  package convenience init(transportable byteCount: Int) {
    let buffer = WritableByteBuffer(unwritten: byteCount)
    self.init(buffer.bytes, of: buffer)
  }

  /// Whether buffers of a size are large enough to be sent without copying them.
  package static func isTransportable(_ byteCount: Int) -> Bool {
    byteCount >= FramedMessage.minStoredByteCount
  }

  /// Whether the transport sends the bytes without copying them. Small buffers are copied, and so
  /// are buffers that would keep much other memory alive.
  package var isTransportable: Bool { self.transportBytes != nil }

  /// The same bytes, if the transport can send them without copying and that is worthwhile.
  package var transportBytes: ByteBuffer? {
    guard Self.isTransportable(self.byteCount) else { return nil }
    return switch self.origin {
    case let writable as WritableByteBuffer: writable.buffer
    case let received as ReceivedBytes: received.transportBytes
    case is any ForeignMemory: LentPixels.buffer(of: self)
    default: nil
    }
  }
}

/// Received bytes, and the pixels in them.
@safe
private struct ReceivedBytes: @unchecked Sendable {  // only read
  private let message: ByteBuffer
  private let range: Range<Int>
  /// The memory of the pixels, valid for as long as this value or a copy of it exists.
  let pixels: UnsafeMutableRawBufferPointer
  /// The owner of the memory.
  private let storage: AnyObject

  /// - Returns: `nil` if the bytes are not a `ByteBuffer` of the transport, which can lend its
  ///   memory for longer than a closure.
  init?(_ bytes: some GRPCContiguousBytes, _ range: Range<Int>) {
    guard let message = GRPCBytes.buffer(of: bytes) else { return nil }
    let (memory, storage) = message.withUnsafeReadableBytesWithStorageManagement {
      (UnsafeMutableRawBufferPointer(mutating: $0), $1.takeUnretainedValue())
    }
    self.message = message
    self.range = range
    self.pixels = UnsafeMutableRawBufferPointer(rebasing: memory[range])
    self.storage = storage
  }

  /// The pixels, unless most of the memory that they would keep alive belongs to other data.
  var transportBytes: ByteBuffer? {
    guard self.range.count >= self.message.readableBytes / 2 else { return nil }
    return self.message.getSlice(
      at: self.message.readerIndex + self.range.lowerBound, length: self.range.count)
  }
}

/// The `ByteBuffer` in grpc-swift-nio-transport's type of bytes.
package enum GRPCBytes {
  /// Whether the type has a `ByteBuffer` as its only stored property, and so the same layout.
  private static let isByteBuffer: Bool = {
    let properties = Mirror(reflecting: GRPCNIOTransportBytes(CollectionOfOne(0))).children
    return properties.count == 1 && properties.first?.value is ByteBuffer
      && MemoryLayout<GRPCNIOTransportBytes>.size == MemoryLayout<ByteBuffer>.size
  }()

  /// Returns the buffer of the bytes of a message; `nil` for other types of bytes.
  ///
  /// `GRPCNIOTransportBytes` keeps its buffer to itself. If a version of the package stores
  /// something else, the result is `nil`, and pixels are copied.
  package static func buffer(of bytes: some GRPCContiguousBytes) -> ByteBuffer? {
    if let bytes = bytes as? CallBytes { return bytes.buffer }
    guard Self.isByteBuffer, let bytes = bytes as? GRPCNIOTransportBytes else { return nil }
    return unsafeBitCast(bytes, to: ByteBuffer.self)
  }
}

/// The bytes of a message in a transport of this module. Unlike `GRPCNIOTransportBytes` it lends
/// its buffer.
struct CallBytes: GRPCContiguousBytes, Sendable, Hashable {
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

/// A byte buffer whose bytes are written using a pointer, by any thread, before it is sent.
///
/// NIO lends a pointer into a `ByteBuffer` only for the duration of a closure, unless the buffer's
/// storage is retained while the pointer is used. This type retains it. The bytes do not move: the
/// buffer itself isn't modified, and a modified copy of it gets separate storage.
@safe
struct WritableByteBuffer: @unchecked Sendable {  // the owner decides who writes, and when
  /// The bytes as the transport sends them. Its readable bytes are ``bytes``.
  let buffer: ByteBuffer
  /// The memory of the buffer's bytes, valid for as long as this value or a copy of it exists.
  let bytes: UnsafeMutableRawBufferPointer
  /// The owner of the memory.
  private let storage: AnyObject

  /// Creates a buffer of bytes that are written later. They are not filled with zeros: that pass
  /// over memory would cost half as much as a copy.
  init(unwritten byteCount: Int) {
    var buffer = ByteBuffer()
    buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: byteCount) { _ in byteCount }
    (self.bytes, self.storage) = buffer.withUnsafeReadableBytesWithStorageManagement {
      (UnsafeMutableRawBufferPointer(mutating: $0), $1.takeUnretainedValue())
    }
    self.buffer = buffer
  }

  /// Creates a buffer that holds a copy of bytes.
  init(_ bytes: some Collection<UInt8>) {
    self.init(unwritten: bytes.count)
    self.bytes.copyBytes(from: bytes)
  }
}
