import SidelightKernels

/// The parameters of filters that draw texts.
enum TextParameters {
  /// The font and the size.
  static func font(
    default font: BundledFont, isBold: Bool, size: Double
  ) -> [ParameterDescription] {
    [
      ParameterDescription(
        "font", .choice(BundledFont.allCases.map(\.rawValue)), default: .text(font.rawValue),
        "The font, without fontAsset."),
      ParameterDescription(
        "bold", .flag, default: .flag(isBold), "Whether the font's bold style is used."),
      ParameterDescription(
        "fontAsset", .asset, default: .text(""), assetKind: .font,
        "The name of an uploaded TrueType or OpenType font."),
      ParameterDescription(
        "size", .length, default: .length(Length(size, .height)), slider: 8 ... 256,
        limits: 1 ... 2048, unit: .pixels,
        "The font size, the unit of the lengths below; a letter H is about 0.7 of it high."),
      ParameterDescription(
        "color", .color, default: .color(RGBAColor(red: 1, green: 1, blue: 1)), limits: 0 ... 1,
        "The colour of letters."),
    ]
  }

  /// Outline, shadow and box.
  static func decoration(boxAlpha: Double) -> [ParameterDescription] {
    let black = RGBAColor(red: 0, green: 0, blue: 0)
    let clear = RGBAColor(red: 0, green: 0, blue: 0, alpha: 0)
    return [
      ParameterDescription(
        "outlineWidth", .number, default: .number(0), slider: 0 ... 0.2, limits: 0 ... 0.5,
        "The width of the line around letters in font sizes; 0 draws none."),
      ParameterDescription(
        "outlineColor", .color, default: .color(black), limits: 0 ... 1,
        "The colour of the line around letters."),
      ParameterDescription(
        "shadowColor", .color, default: .color(clear), limits: 0 ... 1,
        "The colour of the shadow; an alpha of 0 draws none."),
      ParameterDescription(
        "shadowOffset", .vector(count: 2), default: .vector([0.04, 0.06]), slider: -0.5 ... 0.5,
        limits: -4 ... 4,
        "The displacement of the shadow to the right and down, in font sizes."),
      ParameterDescription(
        "shadowBlur", .number, default: .number(0.08), slider: 0 ... 0.5, limits: 0 ... 1,
        "The standard deviation of the shadow's edge in font sizes."),
      ParameterDescription(
        "boxColor", .color,
        default: .color(RGBAColor(red: 0, green: 0, blue: 0, alpha: boxAlpha)), limits: 0 ... 1,
        "The colour of the box behind the text; an alpha of 0 draws none."),
      ParameterDescription(
        "boxPadding", .vector(count: 2), default: .vector([0.5, 0.3]), slider: 0 ... 2,
        limits: 0 ... 16,
        "The distances from the text to the box's sides, and to its upper and lower edge, in font "
          + "sizes."),
      ParameterDescription(
        "boxRadius", .number, default: .number(0.25), slider: 0 ... 1, limits: 0 ... 16,
        "The radius of the box's corners in font sizes."),
    ]
  }

  /// The place in the frame.
  static func place(default anchor: TextPlacement.Anchor) -> [ParameterDescription] {
    let margin = Length(0.05, .shortSide)
    return [
      ParameterDescription(
        "position", .choice(TextPlacement.Anchor.allCases.map(\.rawValue)),
        default: .text(anchor.rawValue), "The corner, edge or middle of the frame."),
      ParameterDescription(
        "margin", .point, default: .point(FramePoint(x: margin, y: margin)),
        "The distances from the frame's edges; from a middle to the right and down."),
      ParameterDescription(
        "opacity", .number, default: .number(1), slider: 0 ... 1, limits: 0 ... 1,
        "The opacity of text and box; 0 changes nothing."),
    ]
  }

  /// The time zone of clocks.
  static let utcOffset = ParameterDescription(
    "utcOffset", .number, default: .number(0), slider: -12 ... 14, limits: -18 ... 18,
    "The hours by which the clock is ahead of UTC: 5.5 in India.")
}

/// The values of ``TextParameters``, with the font.
struct TextAppearance: Sendable {
  let font: TextFont
  private let isBold: Bool
  private let size: Length
  private let arguments: Arguments

  init(_ arguments: Arguments) {
    self.font =
      arguments.font("fontAsset").map { .asset($0) }
      ?? .bundled(BundledFont(rawValue: arguments.text("font")) ?? .inter)
    self.isBold = arguments.flag("bold")
    self.size = arguments.length("size")
    self.arguments = arguments
  }

  /// The opacity of text and box.
  var opacity: Double { self.arguments.number("opacity") }

  /// Whether the text covers pixels. Samples use an opacity of type Float, in which the smallest
  /// numbers are 0.
  var isVisible: Bool { Float(self.opacity) > 0 }

  /// Returns the reason why the font cannot be used; `nil` if it can.
  func violation(_ renderer: any TextRenderer) -> ArgumentViolation? {
    guard case .bundled(let font) = self.font,
      let reason = renderer.unavailability(of: font)
    else { return nil }
    let other = BundledFont.allCases.first { renderer.unavailability(of: $0) == nil }
    return ArgumentViolation(
      "font", "font is \(font.rawValue), \(reason)", suggestion: other?.rawValue)
  }

  /// Returns a request without text for frames of a size.
  func request(
    in frame: FrameSize, maxWidth: Double, maxLines: Int, lineSpacing: Double = 1,
    alignment: TextAlignment?, isBoxWide: Bool = false, hasTabularDigits: Bool
  ) -> TextRequest {
    let size = min(max(self.size.pixels(in: frame), 1), 2048)
    let (shadow, padding) = (
      self.arguments.vector("shadowOffset"), self.arguments.vector("boxPadding")
    )
    var style = TextStyle(size: size)
    style.color = self.arguments.color("color")
    style.outlineWidth = size * self.arguments.number("outlineWidth")
    style.outlineColor = self.arguments.color("outlineColor")
    (style.shadowX, style.shadowY) = (size * shadow[0], size * shadow[1])
    style.shadowBlur = size * self.arguments.number("shadowBlur")
    style.shadowColor = self.arguments.color("shadowColor")
    style.boxColor = self.arguments.color("boxColor")
    (style.boxPaddingX, style.boxPaddingY) = (size * padding[0], size * padding[1])
    style.boxRadius = size * self.arguments.number("boxRadius")
    style.isBoxWide = isBoxWide
    style.lineSpacing = lineSpacing
    style.alignment = alignment
    style.maxWidth = maxWidth
    style.maxLines = maxLines
    style.hasTabularDigits = hasTabularDigits
    let margin = self.arguments.point("margin").pixels(in: frame)
    return TextRequest(
      "", font: self.font, isBold: self.isBold, style: style,
      placement: TextPlacement(
        frame: frame,
        anchor: TextPlacement.Anchor(rawValue: self.arguments.text("position")) ?? .bottomLeft,
        marginX: margin.x, marginY: margin.y))
  }
}
