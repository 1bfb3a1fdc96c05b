import SidelightKernelLanguage
import SidelightKernels
import SidelightText
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

@Suite("Uploaded fonts") struct FontAssetTests {
  private let renderer = FontRenderer()

  @Test func `an uploaded font draws like the installed one`() throws {
    let font = try self.renderer.readFont(Self.dejaVu(), lease: nil)
    #expect(font.family == "DejaVu Sans")
    #expect(font.style == "Book")
    #expect(font.glyphCount > 5000)
    let uploaded = try self.renderer.render(
      TextRendererTests.request("Name") { $0.font = .asset(font) })
    let installed = try self.renderer.render(
      TextRendererTests.request("Name") { $0.font = .bundled(.dejaVuSans) })
    #expect(uploaded != nil && uploaded?.pixels == installed?.pixels)
  }

  @Test func `a pipeline names an uploaded font`() throws {
    var catalogue = FilterCatalogue.builtIn
    catalogue.registerText()
    let font = try self.renderer.readFont(Self.dejaVu(), lease: nil)
    catalogue.assets = AssetStore(["brand": .font(font)])
    _ = try catalogue.resolve([.text(text: "Name", fontAsset: "brand")])
    let error = #expect(throws: PipelineError.self) {
      try catalogue.resolve([.text(text: "Name", fontAsset: "other")])
    }
    #expect(error?.code == .unknownAsset)
  }

  @Test(arguments: [0, 1, 4, 12, 100, 5000])
  func `a font that ends early is refused or drawn`(_ count: Int) throws {
    let bytes = Array(try Self.dejaVu().prefix(count))
    let error = #expect(throws: TextError.self) {
      try self.renderer.readFont(bytes, lease: nil)
    }
    #expect(error?.message.isEmpty == false)
  }

  @Test func `fonts with damaged tables are refused or drawn within the limits`() throws {
    let font = try Self.dejaVu()
    var random = SystemRandomNumberGenerator()
    for _ in 0 ..< 60 {
      var damaged = font
      for _ in 0 ..< 200 {
        // The tables of glyphs and shaping are everywhere in the file.
        damaged[Int.random(in: 12 ..< font.count, using: &random)] = .random(
          in: 0 ... 255, using: &random)
      }
      for index in 12 ..< 300 where Int.random(in: 0 ..< 40, using: &random) == 0 {
        damaged[index] = .random(in: 0 ... 255, using: &random)
      }
      guard let asset = try? self.renderer.readFont(damaged, lease: nil) else { continue }
      _ = try? self.renderer.render(
        TextRendererTests.request("Näme fi ل 123") {
          $0.font = .asset(asset)
          $0.style.outlineWidth = 2
        })
    }
  }

  @Test func `a font that is not installed is replaced by a similar one`() throws {
    let folder = "/tmp/sidelight-fonts-\(UInt64.random(in: 0 ... .max))"
    let isMade = unsafe mkdir(folder, 0o700) == 0
    try #require(isMade)
    let isLinked = unsafe symlink("/usr/share/fonts/truetype/dejavu", "\(folder)/dejavu") == 0
    defer {
      unsafe unlink("\(folder)/dejavu")
      unsafe rmdir(folder)
    }
    try #require(isLinked)
    var configuration = TextConfiguration()
    configuration.fontFolders = [folder]
    let renderer = FontRenderer(configuration)
    func pixels(_ font: BundledFont, isBold: Bool) throws -> [UInt8]? {
      try renderer.render(
        TextRendererTests.request("Name 123") {
          $0.font = .bundled(font)
          $0.isBold = isBold
        })?.pixels
    }
    for isBold in [false, true] {
      let (sans, serif) = (
        try pixels(.dejaVuSans, isBold: isBold), try pixels(.dejaVuSerif, isBold: isBold)
      )
      #expect(sans != serif)
      #expect(try pixels(.inter, isBold: isBold) == sans)
      #expect(try pixels(.notoSans, isBold: isBold) == sans)
      #expect(try pixels(.notoSerif, isBold: isBold) == serif)
    }
    var catalogue = FilterCatalogue.builtIn
    catalogue.registerText(configuration)
    _ = try catalogue.resolve([.text(text: "name"), .timecode()])
  }

  @Test func `without installed fonts the filters are not available`() throws {
    var configuration = TextConfiguration()
    configuration.fontFolders = ["/nowhere"]
    var catalogue = FilterCatalogue.builtIn
    catalogue.registerText(configuration)
    let reason = try #require(catalogue.unavailableFilter(named: "text")?.reason)
    #expect(reason.contains("/nowhere"))
    #expect(reason.contains("fonts-dejavu-core"))
  }

  static func dejaVu() throws -> [UInt8] {
    let path = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
    let file = unsafe try #require(fopen(path, "rb"))
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe fread(&chunk, 1, chunk.count, file)
      if count == 0 { return bytes }
      bytes += chunk.prefix(count)
    }
  }
}
