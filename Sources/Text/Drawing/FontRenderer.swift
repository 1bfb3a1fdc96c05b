public import SidelightKernels

/// The fonts of ``FontRenderer``.
public struct TextConfiguration: Sendable, Hashable {
  /// - `fontFolders` (paths, default: Debian's): the folders with the folders `dejavu`, `inter` and
  ///   `noto`.
  public var fontFolders = ["/usr/share/fonts/truetype", "/usr/share/fonts/opentype"]

  /// Creates a configuration with the defaults.
  public init() {}
}

/// A renderer of texts with FreeType, HarfBuzz and FriBidi.
///
/// A font that is not installed is replaced by a similar one. Characters that a text's font lacks
/// are drawn using other installed fonts: the Noto font of their script, DejaVu Sans, Noto Sans
/// CJK, and Noto Color Emoji for emoji. Characters that all fonts lack are drawn as a box.
public struct FontRenderer: TextRenderer, FontReader {
  private let fonts: FontCollection

  /// Creates a renderer.
  public init(_ configuration: TextConfiguration = TextConfiguration()) {
    self.fonts = FontCollection(folders: configuration.fontFolders)
  }

  /// Returns the reason why a font cannot be used, as a clause; `nil` if it can.
  public func unavailability(of font: BundledFont) -> String? {
    guard self.fonts.font(font, isBold: false) == nil else { return nil }
    return "which is not installed on this server, and no other font is; Debian's package "
      + "\(FontCollection.package(of: font)) has it"
  }

  /// Draws a text.
  ///
  /// - Returns: `nil` if the text is outside the frame.
  /// - Throws: ``TextError`` for a text with more than 2048 glyphs or 16 million pixels of glyphs,
  ///   and for damaged fonts.
  public func render(_ text: TextRequest) throws(TextError) -> TextCaption? {
    guard text.text.contains(where: { !$0.isWhitespace }) else { return nil }
    let primary = try self.file(of: text)
    var faces = FaceSet()
    return try CaptionRenderer(
      request: text,
      fonts: FontChoice(primary: primary, collection: self.fonts, isBold: text.isBold)
    ).render(&faces)
  }

  package func readFont(
    _ bytes: [UInt8], lease: (any AssetLease)?
  ) throws(TextError) -> FontAsset {
    let file = try FontFile(bytes)
    return FontAsset(
      family: file.properties.family, style: file.properties.style,
      glyphCount: file.properties.glyphCount, handle: file, lease: lease)
  }

  private func file(of text: TextRequest) throws(TextError) -> FontFile {
    switch text.font {
    case .asset(let asset):
      guard let file = asset.handle as? FontFile else {
        throw TextError("the font belongs to another renderer")
      }
      return file
    case .bundled(let font):
      guard let file = self.fonts.font(font, isBold: text.isBold) else {
        throw TextError("font is \(font.rawValue), \(self.unavailability(of: font) ?? "")")
      }
      return file
    }
  }
}

extension FilterCatalogue {
  /// Adds the filters `text` and `timecode`. Without an installed font, it adds them as unavailable
  /// filters.
  ///
  /// - Parameter configuration: The folders of fonts.
  public mutating func registerText(_ configuration: TextConfiguration = TextConfiguration()) {
    let renderer = FontRenderer(configuration)
    guard BundledFont.allCases.contains(where: { renderer.unavailability(of: $0) == nil }) else {
      let folders = configuration.fontFolders.joined(separator: " and ")
      self.registerText(
        unavailable: "no font is installed in \(folders); Debian's packages fonts-dejavu-core and "
          + "fonts-inter have some")
      return
    }
    self.registerText(renderer)
  }
}

extension FilterCatalogue {
  /// Adds the filters `text` and `timecode`, with a renderer. They replace filters added with
  /// another renderer.
  ///
  /// - Parameters:
  ///   - renderer: Draws the texts, and parses uploaded fonts if it is SidelightText's renderer.
  ///   - maxCacheBytes: The maximum memory of drawn texts that are kept for later frames.
  public mutating func registerText(
    _ renderer: any TextRenderer, maxCacheBytes: Int = 64 << 20
  ) {
    let tools = TextTools(renderer, maxCacheBytes: maxCacheBytes)
    self.fonts = renderer as? any FontReader
    self.register(TextFilter.description) { TextFilter($0, tools: tools) }
    self.register(TimecodeFilter.description) { TimecodeFilter($0, tools: tools) }
  }

  /// Describes the filters `text` and `timecode` as unavailable. A pipeline that names one does not
  /// resolve.
  ///
  /// - Parameter reason: The missing part, as a clause.
  public mutating func registerText(unavailable reason: String) {
    self.fonts = nil
    self.register(unavailable: TextFilter.description, reason: reason)
    self.register(unavailable: TimecodeFilter.description, reason: reason)
  }
}
