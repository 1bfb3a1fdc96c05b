/// What a plan is compiled for: everything about a frame but its strides and its samples.
public struct FrameGeometry: Sendable, Hashable {
  /// The layout of samples.
  public var format: PixelFormat
  /// The size in pixels.
  public var size: FrameSize
  /// What the samples mean as colours.
  public var color: ColorDescription

  /// States a geometry.
  public init(format: PixelFormat, size: FrameSize, color: ColorDescription = ColorDescription()) {
    self.format = format
    self.size = size
    self.color = color
  }
}
