/// The size of a frame in pixels.
public struct FrameSize: Sendable, Hashable, CustomStringConvertible {
  /// Pixels a row; at least 1 in a valid frame.
  public var width: Int
  /// Rows; at least 1 in a valid frame.
  public var height: Int

  /// States a size; whether a frame can have it, ``FrameLayout`` finds out.
  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// The number of pixels.
  public var pixelCount: Int { self.width * self.height }

  /// `1920x1080`.
  public var description: String { "\(self.width)x\(self.height)" }
}
