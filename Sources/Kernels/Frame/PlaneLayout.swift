/// Where one plane lies within a buffer.
public struct PlaneLayout: Sendable, Hashable {
  /// Bytes from the start of the buffer to the plane's first sample.
  public var offset: Int
  /// Bytes from one row to the next; at least the row's own bytes.
  public var stride: Int

  /// States where a plane lies.
  public init(offset: Int, stride: Int) {
    self.offset = offset
    self.stride = stride
  }
}
