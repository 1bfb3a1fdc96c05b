import NIOCore

/// A byte buffer whose bytes are written through a pointer, by any thread, before it is sent.
///
/// NIO lends a pointer into a `ByteBuffer` only for the length of a closure, unless the buffer's
/// storage is retained for as long as the pointer is used. This retains it. The bytes do not move:
/// nothing changes the buffer itself, and a copy of it that is changed gets a storage of its own.
@safe
struct WritableByteBuffer: @unchecked Sendable {  // the owner decides who writes, and when
  /// The bytes as the transport sends them. Its readable bytes are ``bytes``.
  let buffer: ByteBuffer
  /// The memory of the buffer's bytes, valid for as long as this value or a copy of it exists.
  let bytes: UnsafeMutableRawBufferPointer
  /// The owner of the memory.
  private let storage: AnyObject

  /// Makes a buffer of bytes that are written later. They are not filled with zeros: that pass over
  /// memory would cost half of what a copy costs.
  init(unwritten byteCount: Int) {
    var buffer = ByteBuffer()
    buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: byteCount) { _ in byteCount }
    (self.bytes, self.storage) = buffer.withUnsafeReadableBytesWithStorageManagement {
      (UnsafeMutableRawBufferPointer(mutating: $0), $1.takeUnretainedValue())
    }
    self.buffer = buffer
  }

  /// Makes a buffer that holds a copy of bytes.
  init(_ bytes: [UInt8]) {
    self.init(unwritten: bytes.count)
    self.bytes.copyBytes(from: bytes)
  }
}
