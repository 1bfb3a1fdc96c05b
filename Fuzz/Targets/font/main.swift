import FuzzDriver
import SidelightKernels
import SidelightText

// Reads the file of a font as the server does when it is uploaded. Any text must be drawn with an
// accepted font, or refused with a reason.

let renderer = FontRenderer()
let frame = FrameSize(width: 320, height: 180)

fuzz { input in
  let bytes = input.withUnsafeBytes { [UInt8]($0) }
  guard FontAsset.isFont(bytes), let font = try? renderer.readFont(bytes, lease: nil) else {
    return
  }
  for (text, size, outline) in [
    ("AVoid fi 0123 \u{E4}\u{2026}", 20.0, 2.0),
    ("\u{644}\u{627} \u{915}\u{94D}\u{937} \u{1F600}", 60, 0),
  ] {
    var style = TextStyle(size: size)
    style.outlineWidth = outline
    (style.shadowX, style.shadowBlur) = (2, 2)
    style.shadowColor = RGBAColor(red: 0, green: 0, blue: 0)
    style.maxWidth = 300
    style.maxLines = 4
    style.hasTabularDigits = true
    let request = TextRequest(
      text, font: .asset(font), style: style,
      placement: TextPlacement(frame: frame, anchor: .topLeft, marginX: 4, marginY: 4))
    do throws(TextError) {
      guard let caption = try renderer.render(request) else { continue }
      precondition(
        caption.x + caption.size.width <= frame.width
          && caption.y + caption.size.height <= frame.height,
        "a text is outside the frame")
    } catch {
      precondition(!error.message.isEmpty, "an error has no reason")
    }
  }
}
