package import GRPCCore
import GRPCNIOTransportHTTP2Posix
package import SidelightKernels

extension PixelBuffer {
  /// Pixels that lie within bytes that came. They stay there, and keep the bytes alive, where the
  /// type of bytes is known to hold them at one place; else they are copied.
  package convenience init<Bytes: GRPCContiguousBytes>(_ range: Range<Int>, of bytes: Bytes) {
    guard Bytes.self == GRPCNIOTransportBytes.self || Bytes.self == [UInt8].self else {
      self.init(range, of: bytes.withUnsafeBytes { [UInt8]($0) })
      return
    }
    let owner = Owner(bytes)
    // Both types keep their bytes in a heap object, which moves for no one while it is only read.
    let start = bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(mutating: $0) }
    self.init(borrowing: UnsafeMutableRawBufferPointer(rebasing: start[range])) { _ in
      withExtendedLifetime(owner) {}
    }
  }

  /// Writes another's bytes here.
  ///
  /// - Precondition: There is room for them, and nobody else reads or writes here.
  package func copy(_ other: PixelBuffer) {
    precondition(self.byteCount >= other.byteCount, "there is no room for the pixels")
    self.bytes.copyMemory(from: UnsafeRawBufferPointer(other.bytes))
  }

  private final class Owner: @unchecked Sendable {  // only kept, never used
    let bytes: Any

    init(_ bytes: Any) {
      self.bytes = bytes
    }
  }
}
