public import SidelightKernels

/// A renderer of text: it lays out and draws texts, and parses fonts. SidelightText has one.
///
/// Any thread may call it, several at the same time.
public protocol TextRenderer: Sendable {
  /// Returns the reason why a font of ``BundledFont`` cannot be used, as a clause; `nil` if it can.
  func unavailability(of font: BundledFont) -> String?

  /// Draws a text.
  ///
  /// - Returns: `nil` if the text is outside the frame.
  /// - Throws: ``TextError`` for a text that takes too much time or memory, or a damaged font.
  func render(_ text: TextRequest) throws(TextError) -> TextCaption?
}

/// A free font that a renderer finds by its name.
public enum BundledFont: String, Sendable, Hashable, CaseIterable {
  /// Inter, a sans serif for screens.
  case inter
  /// DejaVu Sans.
  case dejaVuSans
  /// DejaVu Sans Mono, with characters of equal width.
  case dejaVuMono
  /// DejaVu Serif.
  case dejaVuSerif
  /// Noto Sans.
  case notoSans
  /// Noto Serif.
  case notoSerif
}

/// The font of a text.
public enum TextFont: Sendable, Hashable {
  /// A font of the renderer.
  case bundled(BundledFont)
  /// An uploaded font.
  case asset(FontAsset)
}

/// A text with all properties that determine its pixels.
public struct TextRequest: Sendable, Hashable {
  /// The text; line breaks separate paragraphs.
  public var text: String
  /// The font.
  public var font: TextFont
  /// Whether the bold style of a bundled font is used.
  public var isBold: Bool
  /// The appearance.
  public var style: TextStyle
  /// The place in the frame.
  public var placement: TextPlacement

  package init(
    _ text: String, font: TextFont, isBold: Bool = false, style: TextStyle,
    placement: TextPlacement
  ) {
    self.text = text
    self.font = font
    self.isBold = isBold
    self.style = style
    self.placement = placement
  }
}

/// The appearance of a text. Lengths are pixels of the frame.
public struct TextStyle: Sendable, Hashable {
  /// The side of the square in which letters are designed.
  public var size: Double
  /// The colour of letters.
  public var color = RGBAColor(red: 1, green: 1, blue: 1)
  /// The width of the line around letters; 0 disables it.
  public var outlineWidth = 0.0
  /// The colour of the line around letters.
  public var outlineColor = TextStyle.black
  /// The displacement of the shadow to the right.
  public var shadowX = 0.0
  /// The displacement of the shadow downwards.
  public var shadowY = 0.0
  /// The standard deviation of the shadow's edge.
  public var shadowBlur = 0.0
  /// The colour of the shadow; clear disables it.
  public var shadowColor = TextStyle.clear
  /// The colour of the box behind the text; clear disables it.
  public var boxColor = TextStyle.clear
  /// The distance from the text to the box's left and right edge.
  public var boxPaddingX = 0.0
  /// The distance from the text to the box's upper and lower edge.
  public var boxPaddingY = 0.0
  /// The radius of the box's corners.
  public var boxRadius = 0.0
  /// Whether the box is as wide as lines may be.
  public var isBoxWide = false
  /// The distance of baselines as a factor of the font's own.
  public var lineSpacing = 1.0
  /// The side to which lines are aligned; `nil` uses the side where their paragraph begins.
  public var alignment: TextAlignment?
  /// The maximum width of lines.
  public var maxWidth = 65536.0
  /// The maximum number of lines. A longer text ends with an ellipsis.
  public var maxLines = 64
  /// Whether digits are equally wide.
  public var hasTabularDigits = false

  /// Creates the style of white letters without outline, shadow and box.
  ///
  /// - Parameter size: The font size.
  package init(size: Double) {
    self.size = size
  }

  private static let black = RGBAColor(red: 0, green: 0, blue: 0)
  private static let clear = RGBAColor(red: 0, green: 0, blue: 0, alpha: 0)
}

/// A side to which lines are aligned.
public enum TextAlignment: String, Sendable, Hashable, CaseIterable {
  /// The left side.
  case left
  /// The middle.
  case center
  /// The right side.
  case right
}

/// The position of a text in a frame.
public struct TextPlacement: Sendable, Hashable {
  /// A corner or an edge of the frame, or its centre.
  public enum Anchor: String, Sendable, Hashable, CaseIterable {
    case topLeft, top, topRight
    case left, center, right
    case bottomLeft, bottom, bottomRight
  }

  /// The size of the frame.
  public var frame: FrameSize
  /// The part of the frame at which the text is.
  public var anchor: Anchor
  /// The distance from the frame's edge to the right or left; from the middle to the right.
  public var marginX: Double
  /// The distance from the frame's edge downwards or upwards; from the middle downwards.
  public var marginY: Double

  package init(frame: FrameSize, anchor: Anchor, marginX: Double, marginY: Double) {
    self.frame = frame
    self.anchor = anchor
    self.marginX = marginX
    self.marginY = marginY
  }

  /// Returns the top left corner of a block of lines, with its box.
  ///
  /// - Parameters:
  ///   - width: The width of the block in pixels.
  ///   - height: Its height.
  public func origin(width: Double, height: Double) -> (x: Double, y: Double) {
    let (wide, high) = (Double(self.frame.width) - width, Double(self.frame.height) - height)
    let x =
      switch self.anchor {
      case .topLeft, .left, .bottomLeft: self.marginX
      case .top, .center, .bottom: wide / 2 + self.marginX
      case .topRight, .right, .bottomRight: wide - self.marginX
      }
    let y =
      switch self.anchor {
      case .topLeft, .top, .topRight: self.marginY
      case .left, .center, .right: high / 2 + self.marginY
      case .bottomLeft, .bottom, .bottomRight: high - self.marginY
      }
    return (x, y)
  }

  /// The alignment of lines that fits the anchor; `nil` if the anchor is at the left.
  public var alignment: TextAlignment? {
    switch self.anchor {
    case .topLeft, .left, .bottomLeft: nil
    case .top, .center, .bottom: .center
    case .topRight, .right, .bottomRight: .right
    }
  }
}

/// A drawn text: the pixels of the rectangle that it covers.
public struct TextCaption: Sendable {
  /// The left edge in the frame, at least 0.
  public let x: Int
  /// The upper edge in the frame, at least 0.
  public let y: Int
  /// The size, which ends within the frame.
  public let size: FrameSize
  /// Red, green, blue and alpha of every pixel, premultiplied, row by row.
  public let pixels: [UInt8]

  /// Creates a caption.
  ///
  /// - Precondition: There are four bytes per pixel.
  public init(x: Int, y: Int, size: FrameSize, pixels: [UInt8]) {
    precondition(pixels.count == 4 * size.pixelCount && x >= 0 && y >= 0)
    self.x = x
    self.y = y
    self.size = size
    self.pixels = pixels
  }
}
