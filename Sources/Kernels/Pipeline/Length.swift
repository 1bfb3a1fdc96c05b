/// A length in the frame, so that a look survives a change of resolution in mid-call.
public struct Length: Sendable, Hashable {
  /// What a length is counted in.
  public enum Unit: String, Sendable, Hashable, CaseIterable {
    /// Pixels.
    case pixels
    /// Frame widths.
    case width
    /// Frame heights.
    case height
    /// The lesser of width and height.
    case shortSide
  }

  /// How many of ``unit``.
  public var value: Double
  /// What ``value`` counts.
  public var unit: Unit

  /// States a length; in pixels unless said otherwise.
  public init(_ value: Double, _ unit: Unit = .pixels) {
    self.value = value
    self.unit = unit
  }

  /// The length in pixels in a frame of the given size.
  public func pixels(in size: FrameSize) -> Double {
    switch self.unit {
    case .pixels: self.value
    case .width: self.value * Double(size.width)
    case .height: self.value * Double(size.height)
    case .shortSide: self.value * Double(min(size.width, size.height))
    }
  }
}
