import NIOCore

/// What goes through gRPC in place of a message that lies at a ``ClaimDesk``
/// (the pattern: enterpriseintegrationpatterns.com/patterns/messaging/StoreInLibrary.html).
struct ClaimCheck: Hashable, Sendable {
  /// Its length where it stands in for a message.
  static let byteCount = 32

  /// Says which desk's it is. Nobody outside can know that, so no message looks like one.
  var secret: SIMD2<UInt64>
  /// Whose it is.
  var depositor: UInt64
  /// Which of theirs.
  var number: UInt64

  init(secret: SIMD2<UInt64>, depositor: UInt64, number: UInt64) {
    self.secret = secret
    self.depositor = depositor
    self.number = number
  }

  /// Reads what stands at an offset, whatever that is.
  ///
  /// - Returns: `nil` if there are too few bytes.
  init?(at offset: Int, of buffer: ByteBuffer) {
    guard
      let (first, second, depositor, number) = buffer.getMultipleIntegers(
        at: offset, as: (UInt64, UInt64, UInt64, UInt64).self)
    else { return nil }
    self.init(secret: SIMD2(first, second), depositor: depositor, number: number)
  }

  /// As it stands in for a message.
  var bytes: ByteBuffer {
    var buffer = ByteBuffer()
    buffer.writeMultipleIntegers(
      self.secret[0], self.secret[1], self.depositor, self.number)
    return buffer
  }
}
