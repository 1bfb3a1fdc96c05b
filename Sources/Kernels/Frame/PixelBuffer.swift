#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The bytes that hold a frame's planes, and the duty to give them back.
///
/// A buffer is written by one owner while it is a ``MutableFrame``, and only read once it stands
/// behind a ``Frame``. When the last frame that refers to it goes, so do the bytes: to the pool they
/// came from, or to whoever lent them.
@safe
public final class PixelBuffer: @unchecked Sendable {  // one MutableFrame writes, then all read
  package let bytes: UnsafeMutableRawBufferPointer
  private let release: @Sendable (UnsafeMutableRawBufferPointer) -> Void
  /// The thing that the bytes are part of, for those who know its kind; `nil` if there is none.
  package let origin: (any Sendable)?

  /// Wraps bytes that somebody else owns.
  ///
  /// - Parameters:
  ///   - bytes: Memory that stays valid and unchanged until `release` is called.
  ///   - release: Called once, on any thread, when the last frame that refers to the bytes is gone.
  public init(
    borrowing bytes: UnsafeMutableRawBufferPointer,
    release: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Void
  ) {
    unsafe self.bytes = bytes
    unsafe self.release = release
    self.origin = nil
  }

  /// Wraps bytes that are valid as long as something is kept.
  package init(_ bytes: UnsafeMutableRawBufferPointer, of origin: some Sendable) {
    unsafe self.bytes = bytes
    unsafe self.release = { _ in }
    self.origin = origin
  }

  deinit {
    unsafe self.release(self.bytes)
  }

  /// The number of bytes; the pool rounds up, so this can exceed what a layout needs.
  public var byteCount: Int { unsafe self.bytes.count }
}

/// Memory of whole pages from the system, beside the heap: for what is large, lives long, and comes and
/// goes at others' wish. In the heap it would leave holes that only the like of it fills.
enum PageMemory {
  /// Takes memory, aligned to a page. Where the system has none the process ends, as it does where the heap
  /// has none.
  ///
  /// An error would help nobody. The decoder of an asset could carry it; but filters take buffers of the
  /// same pools where no error can be told, and the same upload asks the heap, which has no error either,
  /// for its file. What a caller may ask for is bounded before: by the shelf that an asset goes to, the
  /// limits of frames, and the budget of plans. And Linux, as it comes, hands out pages without counting: who
  /// has none to fill them is ended by the system, and nobody is asked.
  ///
  /// - Parameter byteCount: At least 1.
  /// - Returns: Bytes that are zero.
  static func allocate(byteCount: Int) -> UnsafeMutableRawBufferPointer {
    let start = unsafe mmap(
      nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let start = unsafe start, unsafe start != MAP_FAILED else {
      fatalError("the system has no \(byteCount) bytes")
    }
    return unsafe UnsafeMutableRawBufferPointer(start: start, count: byteCount)
  }

  /// Gives memory back that ``allocate(byteCount:)`` has taken.
  static func deallocate(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    _ = unsafe munmap(start, bytes.count)
  }
}
