/// The value of a filter's parameter, as it travels and as it is written.
public enum ParameterValue: Sendable, Hashable {
  /// A number; also accepted where a length in pixels is meant.
  case number(Double)
  /// A length, absolute or relative to the frame.
  case length(Length)
  /// A place in the frame.
  case point(Point)
  /// A colour.
  case color(Color)
  /// Numbers, as many as the parameter says.
  case vector([Double])
  /// Yes or no.
  case flag(Bool)
  /// A name: an asset's, or one of a parameter's choices.
  case text(String)
}

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

/// A place in the frame, from the top left corner; x to the right, y down.
public struct Point: Sendable, Hashable {
  /// From the left edge.
  public var x: Length
  /// From the top edge.
  public var y: Length

  /// States a place.
  public init(x: Length, y: Length) {
    self.x = x
    self.y = y
  }

  /// The place in pixels in a frame of the given size.
  public func pixels(in size: FrameSize) -> (x: Double, y: Double) {
    (self.x.pixels(in: size), self.y.pixels(in: size))
  }

  /// The middle of the frame, whatever its size.
  public static let center = Point(x: Length(0.5, .width), y: Length(0.5, .height))
}

/// An upright rectangle in the frame.
public struct Region: Sendable, Hashable {
  /// The left top corner.
  public var origin: Point
  /// To the right.
  public var width: Length
  /// Down.
  public var height: Length

  /// States a rectangle.
  public init(origin: Point, width: Length, height: Length) {
    self.origin = origin
    self.width = width
    self.height = height
  }
}

/// A colour in gamma-encoded sRGB with straight alpha; 0 ... 1, and beyond it where extended range
/// is meant.
public struct Color: Sendable, Hashable {
  /// Red.
  public var red: Double
  /// Green.
  public var green: Double
  /// Blue.
  public var blue: Double
  /// Opacity: 0 is clear, 1 opaque.
  public var alpha: Double

  /// States a colour; opaque unless said otherwise.
  public init(red: Double, green: Double, blue: Double, alpha: Double = 1) {
    self.red = red
    self.green = green
    self.blue = blue
    self.alpha = alpha
  }
}
