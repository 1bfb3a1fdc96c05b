import SidelightKernels
import SidelightText
import Testing

/// Texts drawn using the fonts of Debian's packages fonts-dejavu-core, fonts-inter and
/// fonts-noto-core.
@Suite("Drawn texts") struct TextRendererTests {
  private let renderer = FontRenderer()

  @Test func `letters have the size and the place that the style states`() throws {
    let caption = try #require(
      try self.renderer.render(Self.request("HHH") { $0.style.size = 100 }))
    let ink = caption.ink { $0.alpha > 127 }
    // Inter's capital letters are 0.727 font sizes high.
    #expect(abs(ink.height - 73) <= 1)
    #expect(ink.left >= 20 && ink.left < 40)
    #expect(ink.bottom <= 480 - 20)
  }

  @Test(arguments: [
    (TextPlacement.Anchor.topLeft, 0, 0), (.center, 1, 1), (.bottomRight, 2, 2), (.top, 1, 0),
    (.left, 0, 1),
  ])
  func `a text is at its anchor`(
    _ anchor: TextPlacement.Anchor, _ column: Int, _ row: Int
  ) throws {
    let caption = try #require(
      try self.renderer.render(Self.request("Anchor") { $0.placement.anchor = anchor }))
    let ink = caption.ink { $0.alpha > 0 }
    #expect((ink.left + ink.right) / 2 * 3 / 640 == column)
    #expect((ink.top + ink.bottom) / 2 * 3 / 480 == row)
  }

  @Test func `lines wrap between words and stay within the width`() throws {
    let text = "The quick brown fox jumps over the lazy dog"
    let one = try #require(try self.renderer.render(Self.request(text)))
    let wrapped = try #require(
      try self.renderer.render(Self.request(text) { $0.style.maxWidth = 150 }))
    let ink = wrapped.ink { $0.alpha > 0 }
    #expect(ink.width <= 150)
    #expect(ink.height > 3 * one.ink { $0.alpha > 0 }.height)
  }

  @Test func `a word that is wider than the width breaks between letters`() throws {
    let caption = try #require(
      try self.renderer.render(
        Self.request(String(repeating: "wide", count: 10)) { $0.style.maxWidth = 100 }))
    #expect(caption.ink { $0.alpha > 0 }.width <= 100)
  }

  @Test func `a text with more lines than allowed ends with an ellipsis`() throws {
    func caption(_ text: String) throws -> TextCaption? {
      try self.renderer.render(
        Self.request(text) {
          $0.style.maxWidth = 120
          $0.style.maxLines = 1
        })
    }
    let cut = try #require(try caption("Participant with a very long name"))
    #expect(cut.ink { $0.alpha > 0 }.width <= 120)
    // Only the part that is shown matters.
    let other = try #require(try caption("Participant with a very long title"))
    #expect(cut.pixels == other.pixels)
    #expect(try caption("Particip")?.pixels != cut.pixels)
  }

  @Test func `words from right to left are in the order of the paragraph`() throws {
    // Lamed is higher than the other letters of this text, and comes first: at the right.
    let caption = try #require(try self.renderer.render(Self.request("ל אאא")))
    let ink = caption.ink { $0.alpha > 127 }
    let highest = caption.columns { $0.alpha > 127 && $1 <= ink.top + 1 }
    #expect(highest.min().map { $0 > (ink.left + ink.right) / 2 } == true)
  }

  @Test func `Arabic letters join`() throws {
    // The letters alone, separated by a character that prevents joining, are wider than the word.
    let joined = try #require(try self.renderer.render(Self.request("ههه")))
    let separate = try #require(try self.renderer.render(Self.request("ه\u{200C}ه\u{200C}ه")))
    #expect(joined.pixels != separate.pixels)
    // The word is connected: no column between its ends is empty.
    let ink = joined.ink { $0.alpha > 0 }
    #expect(Set(joined.columns { pixel, _ in pixel.alpha > 0 }).count == ink.width)
  }

  @Test(arguments: ["नमस्ते", "สวัสดี", "שלום", "مرحبا", "Привет", "Γειά", "გამარჯობა"])
  func `scripts of other fonts are drawn with letters`(_ text: String) throws {
    // A character that no font has is drawn as a box, always the same.
    let missing = try #require(
      try self.renderer.render(Self.request(String(repeating: "\u{10FFFD}", count: 3))))
    let caption = try #require(try self.renderer.render(Self.request(text)))
    #expect(caption.pixels != missing.pixels)
    #expect(caption.ink { $0.alpha > 127 }.width > 10)
  }

  @Test func `outline, shadow and box add pixels around the letters`() throws {
    let plain = try #require(try self.renderer.render(Self.request("Name")))
    let outline = try #require(
      try self.renderer.render(Self.request("Name") { $0.style.outlineWidth = 3 }))
    #expect(outline.size.width >= plain.size.width + 4)
    let shadow = try #require(
      try self.renderer.render(
        Self.request("Name") {
          $0.style.shadowColor = RGBAColor(red: 0, green: 0, blue: 0, alpha: 0.5)
          $0.style.shadowX = 4
          $0.style.shadowBlur = 2
        }))
    #expect(shadow.size.width > plain.size.width)
    let box = try #require(
      try self.renderer.render(
        Self.request("Name") {
          $0.style.boxColor = RGBAColor(red: 0, green: 0, blue: 1)
          $0.style.boxPaddingX = 10
          $0.style.boxPaddingY = 6
        }))
    #expect(box.pixels[0 ..< 4] == [0, 0, 255, 255])
    let round = try #require(
      try self.renderer.render(
        Self.request("Name") {
          $0.style.boxColor = RGBAColor(red: 0, green: 0, blue: 1)
          $0.style.boxRadius = 8
        }))
    #expect(round.pixels[3] < 20)
  }

  @Test func `colours are premultiplied and within alpha`() throws {
    let caption = try #require(
      try self.renderer.render(
        Self.request("Åé 😀 مرحبا") {
          $0.style.outlineWidth = 1.5
          $0.style.shadowColor = RGBAColor(red: 1, green: 0, blue: 0, alpha: 0.7)
          $0.style.boxColor = RGBAColor(red: 0, green: 1, blue: 0, alpha: 0.3)
        }))
    for index in stride(from: 0, to: caption.pixels.count, by: 4) {
      let alpha = caption.pixels[index + 3]
      #expect(caption.pixels[index ..< index + 3].allSatisfy { $0 <= alpha })
    }
  }

  @Test func `digits of clocks are equally wide`() throws {
    func width(_ text: String) throws -> Int? {
      try self.renderer.render(
        Self.request(text) {
          $0.style.hasTabularDigits = true
          $0.style.boxColor = RGBAColor(red: 0, green: 0, blue: 0)
        })?.size.width
    }
    #expect(try width("11:11:11") == width("00:44:88"))
  }

  @Test func `a text outside the frame covers no pixel`() throws {
    #expect(
      try self.renderer.render(Self.request("Name") { $0.placement.marginX = 4000 }) == nil)
    #expect(try self.renderer.render(Self.request(" \n ")) == nil)
  }

  @Test func `a text with glyphs of too many pixels is refused`() throws {
    let error = #expect(throws: TextError.self) {
      try self.renderer.render(
        Self.request(String(repeating: "W\u{301}", count: 256)) {
          $0.style.size = 2048
          $0.style.maxWidth = 1
          $0.style.lineSpacing = 0.5
          $0.style.maxLines = 64
          $0.placement.frame = FrameSize(width: 4096, height: 4096)
        })
    }
    #expect(error?.limit == 16 << 20)
  }

  @Test func `a shadow is computed from the pixels that it needs`() throws {
    func caption(_ frame: FrameSize, marginX: Double) throws -> TextCaption {
      try #require(
        try self.renderer.render(
          Self.request("Name") {
            $0.style.shadowColor = RGBAColor(red: 0, green: 0, blue: 0)
            ($0.style.shadowX, $0.style.shadowY, $0.style.shadowBlur) = (-40, 6, 8)
            $0.placement.anchor = .topLeft
            ($0.placement.marginX, $0.placement.marginY) = (marginX, 100)
            $0.placement.frame = frame
          }))
    }
    // The glyphs end beyond the right edge of the small frame; their shadow does not.
    let whole = try caption(FrameSize(width: 640, height: 480), marginX: 200)
    let cut = try caption(FrameSize(width: 200, height: 480), marginX: 200)
    #expect(cut.x == whole.x && cut.y == whole.y && cut.size.height == whole.size.height)
    for y in 0 ..< cut.size.height {
      let (short, long) = (4 * y * cut.size.width, 4 * y * whole.size.width)
      let count = 4 * cut.size.width
      #expect(cut.pixels[short ..< short + count] == whole.pixels[long ..< long + count])
    }
  }

  @Test func `a shadow of too many pixels is refused with the limit`() throws {
    let error = #expect(throws: TextError.self) {
      try self.renderer.render(
        Self.request("WWWW") {
          $0.style.size = 2048
          $0.style.maxWidth = 65536
          $0.style.shadowColor = RGBAColor(red: 0, green: 0, blue: 0)
          $0.style.shadowBlur = 2048
          $0.placement.frame = FrameSize(width: 1920, height: 1080)
        })
    }
    #expect(error?.message.contains("shadow") == true)
    #expect(error?.message.contains("16777216") == true)
  }

  @Test func `pictures count with the pixels to which they are scaled`() throws {
    func caption(_ count: Int) throws -> TextCaption? {
      try self.renderer.render(
        Self.request(String(repeating: "😀", count: count)) {
          $0.style.size = 2048
          $0.style.maxWidth = 1
          $0.style.lineSpacing = 0.5
          $0.style.maxLines = 64
          ($0.placement.anchor, $0.placement.frame) = (
            .center, FrameSize(width: 4096, height: 8192)
          )
        })
    }
    #expect(try caption(1) != nil)
    #expect(throws: TextError.self) { try caption(16) }
  }

  @Test(arguments: [
    String(repeating: "\u{202E}a", count: 256), String(repeating: "\u{2067}", count: 512),
    "a" + String(repeating: "\u{301}", count: 500), String(repeating: "\u{FDFA}", count: 500),
    String(repeating: "👩‍👩‍👧‍👧", count: 70), "\u{0}\u{7}\u{FFFE}\u{FEFF}",
    String(repeating: "क्", count: 250), String(repeating: "\n", count: 500),
  ])
  func `hostile texts are drawn or refused`(_ text: String) throws {
    do throws(TextError) {
      let caption = try self.renderer.render(Self.request(text) { $0.style.outlineWidth = 2 })
      if let caption {
        #expect(caption.x + caption.size.width <= 640)
        #expect(caption.y + caption.size.height <= 480)
      }
    } catch {
      #expect(!error.message.isEmpty)
    }
  }

  static func request(
    _ text: String, _ change: (inout TextRequest) -> Void = { _ in }
  ) -> TextRequest {
    var style = TextStyle(size: 24)
    style.maxWidth = 600
    style.maxLines = 8
    var request = TextRequest(
      text, font: .bundled(.inter), style: style,
      placement: TextPlacement(
        frame: FrameSize(width: 640, height: 480), anchor: .bottomLeft, marginX: 20, marginY: 20))
    change(&request)
    return request
  }
}

/// A pixel of a caption.
struct CaptionPixel {
  let red, green, blue, alpha: UInt8
}

/// A rectangle of the frame.
struct InkBounds {
  var left = Int.max
  var top = Int.max
  var right = Int.min
  var bottom = Int.min
  var width: Int { self.right - self.left }
  var height: Int { self.bottom - self.top }
}

extension TextCaption {
  /// The smallest rectangle with all pixels for which a condition holds.
  func ink(where condition: (CaptionPixel) -> Bool) -> InkBounds {
    var bounds = InkBounds()
    self.forEach { pixel, x, y in
      guard condition(pixel) else { return }
      bounds.left = min(bounds.left, x)
      bounds.top = min(bounds.top, y)
      bounds.right = max(bounds.right, x + 1)
      bounds.bottom = max(bounds.bottom, y + 1)
    }
    return bounds
  }

  /// The columns of the pixels for which a condition on the pixel and its row holds.
  func columns(where condition: (CaptionPixel, Int) -> Bool) -> [Int] {
    var columns: [Int] = []
    self.forEach { pixel, x, y in if condition(pixel, y) { columns.append(x) } }
    return columns
  }

  private func forEach(_ body: (CaptionPixel, Int, Int) -> Void) {
    for y in 0 ..< self.size.height {
      for x in 0 ..< self.size.width {
        let index = 4 * (y * self.size.width + x)
        body(
          CaptionPixel(
            red: self.pixels[index], green: self.pixels[index + 1],
            blue: self.pixels[index + 2], alpha: self.pixels[index + 3]), self.x + x, self.y + y)
      }
    }
  }
}
