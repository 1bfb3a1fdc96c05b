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
