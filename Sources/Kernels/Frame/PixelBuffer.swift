#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The bytes of a frame's planes, with the function that releases them.
///
/// One owner writes a buffer while it is part of a ``MutableFrame``; after that, as part of
/// ``Frame`` values, it is read-only. When the last frame that refers to it is released, the bytes
/// return to their pool or their owner.
@safe
public final class PixelBuffer: @unchecked Sendable {  // one MutableFrame writes, then all read
  package let bytes: UnsafeMutableRawBufferPointer
  private let release: @Sendable (UnsafeMutableRawBufferPointer) -> Void
  /// The object that the bytes are part of, for code that knows its type; `nil` for other memory.
  package let origin: (any Sendable)?

  /// Wraps bytes that other code owns.
  ///
  /// - Parameters:
  ///   - bytes: Memory that stays valid and unchanged until `release` is called.
  ///   - release: Called once, on any thread, when the last frame that refers to the bytes is
  ///     released.
  public init(
    borrowing bytes: UnsafeMutableRawBufferPointer,
    release: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Void
  ) {
    unsafe self.bytes = bytes
    unsafe self.release = release
    self.origin = nil
  }

  /// Wraps bytes that stay valid as long as `origin` exists, which the buffer retains.
  package init(_ bytes: UnsafeMutableRawBufferPointer, of origin: some Sendable) {
    unsafe self.bytes = bytes
    unsafe self.release = { _ in }
    self.origin = origin
  }

  deinit {
    unsafe self.release(self.bytes)
  }

  /// Returns the first bytes, with the same origin.
  package func prefix(_ byteCount: Int) -> PixelBuffer {
    unsafe PixelBuffer(
      UnsafeMutableRawBufferPointer(rebasing: self.bytes[..<byteCount]), of: self.origin ?? self)
  }

  /// The number of bytes. The pool rounds up: this can exceed the size of a layout.
  public var byteCount: Int { unsafe self.bytes.count }
}

/// The owner of memory that another process may change at any time, as an origin of pixels.
///
/// Every byte may be read once, as data. The memory is limited, so its readers must not wait for
/// peers while it is scarce.
package protocol ForeignMemory: Sendable {
  /// Whether much of the memory is in use.
  var isScarce: Bool { get }
}

/// Mapped pages of the system, for large buffers with a long life that callers create and release
/// at any time. In the heap they would leave gaps that only buffers of the same size can fill.
enum PageMemory {
  /// Maps memory, aligned to a page. The process ends if the system is out of memory, as it does
  /// when the heap is.
  ///
  /// It does not throw, because no caller could handle the error: passes that take buffers from the
  /// same pools cannot fail for lack of memory, and heap allocations for assets do not throw
  /// either. Sizes that callers control are bounded earlier: by asset quotas, the limits of frames,
  /// and the memory budget of plans. Linux overcommits by default and ends a process that touches
  /// pages which do not exist.
  ///
  /// - Parameter byteCount: At least 1.
  /// - Returns: Bytes that are zero.
  static func allocate(byteCount: Int) -> UnsafeMutableRawBufferPointer {
    let start = unsafe mmap(
      nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let start = unsafe start, unsafe start != MAP_FAILED else {
      // This error isn't recoverable; see above.
      fatalError("the system has no \(byteCount) bytes")
    }
    return unsafe UnsafeMutableRawBufferPointer(start: start, count: byteCount)
  }

  /// Unmaps memory of ``allocate(byteCount:)``.
  static func deallocate(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    _ = unsafe munmap(start, bytes.count)
  }
}
