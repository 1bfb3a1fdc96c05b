import FuzzDriver
import SidelightKernels
import SidelightText

// Reads a template and draws its text, as a session does: the first four bytes select the style, the
// fifth is the length of a participant's name, which comes before the template. A drawn text must be
// within the frame, and its colour within its alpha.

let renderer = FontRenderer()
let fonts = BundledFont.allCases
let frame = FrameSize(width: 320, height: 180)

/// Returns a style from bits.
func style(_ bits: [UInt8]) -> TextStyle {
  func color(_ bit: UInt8, _ byte: UInt8) -> RGBAColor {
    RGBAColor(
      red: 1, green: Double(byte) / 255, blue: 0, alpha: bits[0] & bit == 0 ? 0 : 0.8)
  }
  var style = TextStyle(size: 1 + Double(bits[1]) / 2)
  style.outlineWidth = bits[0] & 1 == 0 ? 0 : style.size * Double(bits[2] & 15) / 30
  style.outlineColor = color(1, bits[3])
  style.shadowX = style.size * Double(bits[2] >> 5)
  style.shadowY = style.size * Double(bits[3] >> 5)
  style.shadowBlur = style.size * Double(bits[3] & 15) / 15
  style.shadowColor = color(2, bits[2])
  style.boxColor = color(4, bits[3])
  style.boxPaddingX = style.size * Double(bits[2] & 3)
  style.boxPaddingY = style.size / 4
  style.boxRadius = Double(bits[3])
  style.isBoxWide = bits[0] & 8 != 0
  style.lineSpacing = 0.5 + Double(bits[3] & 7) / 2
  style.alignment = bits[0] & 16 == 0 ? nil : .right
  style.maxWidth = Double(bits[2]) * 2
  style.maxLines = 1 + Int(bits[3] & 15)
  style.hasTabularDigits = bits[0] & 32 != 0
  return style
}

fuzz { input in
  let bytes = input.withUnsafeBytes { [UInt8]($0) }
  guard bytes.count >= 5 else { return }
  let nameCount = Int(bytes[4])
  let participant = String(decoding: bytes.dropFirst(5).prefix(nameCount), as: UTF8.self)
  let text = String(
    decoding: bytes.dropFirst(5 + nameCount).prefix(Pipeline.maxTextBytes), as: UTF8.self)
  guard let template = try? TextTemplate(text) else { return }
  let details = FrameDetails(
    captureNanoseconds: Int64(bitPattern: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }),
    sequence: UInt64(bytes[3]), label: text, participant: participant, tags: ["k": participant])
  let shown = template.text(of: details, utcOffset: Int(bytes[1]) * 60)
  precondition(
    shown.unicodeScalars.count <= TextTemplate.maxScalars, "a text exceeds the limit")
  let request = TextRequest(
    shown, font: .bundled(fonts[Int(bytes[0] >> 6) % fonts.count]),
    isBold: bytes[0] & 64 != 0, style: style(bytes),
    placement: TextPlacement(
      frame: frame,
      anchor: TextPlacement.Anchor.allCases[
        Int(bytes[2]) % TextPlacement.Anchor.allCases.count], marginX: Double(bytes[1]),
      marginY: -Double(bytes[3])))
  guard let caption = try? renderer.render(request) else { return }
  precondition(
    caption.x + caption.size.width <= frame.width
      && caption.y + caption.size.height <= frame.height,
    "a text is outside the frame")
  for index in stride(from: 0, to: caption.pixels.count, by: 4) {
    precondition(
      caption.pixels[index ..< index + 3].allSatisfy { $0 <= caption.pixels[index + 3] },
      "a colour exceeds its alpha")
  }
}
