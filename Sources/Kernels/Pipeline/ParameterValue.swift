/// The value of a filter's parameter.
public enum ParameterValue: Sendable, Hashable {
  /// A number; also accepted for a length, as pixels.
  case number(Double)
  /// A length, absolute or relative to the frame.
  case length(Length)
  /// A position in the frame.
  case point(FramePoint)
  /// A colour.
  case color(RGBAColor)
  /// Numbers; the parameter's description states their count.
  case vector([Double])
  /// A flag.
  case flag(Bool)
  /// A name: an asset's, or one of a parameter's choices.
  case text(String)
}

/// A length in the frame, in pixels or relative to the frame. The effect of a relative length does
/// not change with the resolution.
public struct Length: Sendable, Hashable {
  /// The unit of a length.
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

  /// The length in ``unit``.
  public var value: Double
  /// The unit of ``value``.
  public var unit: Unit

  /// Creates a length; in pixels by default.
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

/// A position in the frame, from the top left corner; x to the right, y down.
public struct FramePoint: Sendable, Hashable {
  /// From the left edge.
  public var x: Length
  /// From the top edge.
  public var y: Length

  /// Creates a position.
  public init(x: Length, y: Length) {
    self.x = x
    self.y = y
  }

  /// The position in pixels in a frame of the given size.
  public func pixels(in size: FrameSize) -> (x: Double, y: Double) {
    (self.x.pixels(in: size), self.y.pixels(in: size))
  }

  /// The centre of the frame, for every size.
  public static let center = FramePoint(x: Length(0.5, .width), y: Length(0.5, .height))
}

/// An axis-aligned rectangle in the frame.
public struct Region: Sendable, Hashable {
  /// The top left corner.
  public var origin: FramePoint
  /// The extent to the right.
  public var width: Length
  /// The extent downwards.
  public var height: Length

  /// Creates a rectangle.
  public init(origin: FramePoint, width: Length, height: Length) {
    self.origin = origin
    self.width = width
    self.height = height
  }
}

/// A colour in gamma-encoded sRGB with straight alpha: 0 ... 1, and other values for extended
/// range.
public struct RGBAColor: Sendable, Hashable {
  /// Red.
  public var red: Double
  /// Green.
  public var green: Double
  /// Blue.
  public var blue: Double
  /// Opacity: 0 is clear, 1 opaque.
  public var alpha: Double

  /// Creates a colour; opaque by default.
  public init(red: Double, green: Double, blue: Double, alpha: Double = 1) {
    self.red = red
    self.green = green
    self.blue = blue
    self.alpha = alpha
  }
}
