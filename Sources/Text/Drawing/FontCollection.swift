import SidelightKernels
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The installed fonts: the fonts that pipelines name, and fonts for further characters.
final class FontCollection: Sendable {
  /// The names of a font's files in the folders; the first that exists is used.
  private typealias Files = [String]

  private let folders: [String]
  private let files = Mutex<[String: FontFile?]>([:])

  init(folders: [String]) {
    self.folders = folders
  }

  /// Returns a font by its name, or the most similar installed one; `nil` if both are missing.
  /// A font without a bold style is used in its regular one.
  func font(_ font: BundledFont, isBold: Bool) -> FontFile? {
    Self.substitutes(of: font).lazy.compactMap { font in
      self.installed(font, isBold: isBold) ?? self.installed(font, isBold: false)
    }.first
  }

  /// Returns a font and its substitutes, the most similar first.
  private static func substitutes(of font: BundledFont) -> [BundledFont] {
    let similar: [BundledFont] =
      switch font {
      case .inter, .notoSans, .dejaVuSans, .dejaVuMono: [.inter, .notoSans, .dejaVuSans]
      case .dejaVuSerif, .notoSerif: [.notoSerif, .dejaVuSerif]
      }
    return [font] + similar + BundledFont.allCases
  }

  private func installed(_ font: BundledFont, isBold: Bool) -> FontFile? {
    let style = isBold ? "Bold" : "Regular"
    return switch font {
    case .inter: self.file(["inter/Inter-\(style).otf", "inter/Inter-\(style).ttf"])
    case .dejaVuSans: self.file(["dejavu/DejaVuSans\(isBold ? "-Bold" : "").ttf"])
    case .dejaVuMono: self.file(["dejavu/DejaVuSansMono\(isBold ? "-Bold" : "").ttf"])
    case .dejaVuSerif: self.file(["dejavu/DejaVuSerif\(isBold ? "-Bold" : "").ttf"])
    case .notoSans: self.file(["noto/NotoSans-\(style).ttf"])
    case .notoSerif: self.file(["noto/NotoSerif-\(style).ttf"])
    }
  }

  /// The Debian package of a font.
  static func package(of font: BundledFont) -> String {
    switch font {
    case .inter: "fonts-inter"
    case .dejaVuSans, .dejaVuMono, .dejaVuSerif: "fonts-dejavu-core"
    case .notoSans, .notoSerif: "fonts-noto-core"
    }
  }

  /// The font with pictures of emoji; `nil` if it is not installed.
  var emoji: FontFile? { self.file(["noto/NotoColorEmoji.ttf"]) }

  /// The fonts for characters that the chosen font lacks, best first. They are opened when they are
  /// reached.
  ///
  /// - Parameter script: The character's script in ISO 15924, big endian.
  func fallbacks(script: UInt32, isBold: Bool) -> some Sequence<FontFile> {
    let style = isBold ? "Bold" : "Regular"
    var names: [(Files, index: Int)] = []
    if let name = Self.scripts[Self.letters(script)] {
      names.append((["noto/Noto\(name)-\(style).ttf", "noto/Noto\(name)-Regular.ttf"], 0))
    }
    // The numbers of the fonts in the collection: Japanese, Korean.
    let korean = Self.letters(script) == "Hang"
    let cjk = (
      ["noto/NotoSansCJK-\(style).ttc", "noto/NotoSansCJK-Regular.ttc"], index: korean ? 1 : 0
    )
    if ["Hani", "Hira", "Kana", "Hang", "Bopo"].contains(Self.letters(script)) {
      names.append(cjk)
    }
    names += [
      (["inter/Inter-\(style).otf", "inter/Inter-\(style).ttf"], 0),
      (["noto/NotoSans-\(style).ttf"], 0), (["dejavu/DejaVuSans\(isBold ? "-Bold" : "").ttf"], 0),
      (["noto/NotoSansSymbols-\(style).ttf", "noto/NotoSansSymbols-Regular.ttf"], 0),
      (["noto/NotoSansSymbols2-Regular.ttf"], 0), (["noto/NotoSansMath-Regular.ttf"], 0), cjk,
    ]
    return names.lazy.compactMap { self.file($0.0, index: $0.index) }
  }

  private static func letters(_ script: UInt32) -> String {
    String(
      decoding: [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: script >> $0) }, as: UTF8.self)
  }

  /// The names of the Noto fonts by script.
  private static let scripts = [
    "Arab": "SansArabic", "Armn": "SansArmenian", "Beng": "SansBengali", "Cher": "SansCherokee",
    "Deva": "SansDevanagari", "Ethi": "SansEthiopic", "Geor": "SansGeorgian",
    "Gujr": "SansGujarati", "Guru": "SansGurmukhi", "Hebr": "SansHebrew", "Khmr": "SansKhmer",
    "Knda": "SansKannada", "Laoo": "SansLao", "Mlym": "SansMalayalam", "Mong": "SansMongolian",
    "Mymr": "SansMyanmar", "Orya": "SansOriya", "Sinh": "SansSinhala", "Syrc": "SansSyriac",
    "Taml": "SansTamil", "Telu": "SansTelugu", "Thaa": "SansThaana", "Thai": "SansThai",
    "Tibt": "SerifTibetan",
  ]

  /// Returns the first of some files that exists in the folders.
  private func file(_ names: Files, index: Int = 0) -> FontFile? {
    let key = "\(names[0])#\(index)"
    if let known = self.files.withLock({ $0[key] }) { return known }
    let paths = names.flatMap { name in self.folders.map { "\($0)/\(name)" } }
    let found = paths.lazy.compactMap { FontFile(path: $0, index: index) }.first
    return self.files.withLock { files in
      // Another thread may have opened it.
      if let known = files[key] { return known }
      files.updateValue(found, forKey: key)
      return found
    }
  }
}

/// The file of a font, and the faces that are opened on it.
@safe
final class FontFile: FontHandle, @unchecked Sendable {  // the bytes do not change
  /// The maximum number of unused faces to keep.
  private static let maxIdleFaces = 4
  /// The largest file that is mapped.
  private static let maxFileBytes = 256 << 20

  /// Family, style and metrics.
  let properties: FontProperties
  private let bytes: UnsafeRawBufferPointer
  private let isMapped: Bool
  private let index: Int
  private let idle = Mutex<[Face]>([])

  /// Parses a font in memory.
  ///
  /// - Throws: ``TextError`` with the reason why the font cannot be used.
  init(_ contents: [UInt8]) throws(TextError) {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: contents.count, alignment: 16)
    unsafe copy.copyBytes(from: contents)
    unsafe self.bytes = UnsafeRawBufferPointer(copy)
    self.isMapped = false
    self.index = 0
    let face: Face
    do {
      face = try unsafe Face(UnsafeRawBufferPointer(copy), index: 0)
    } catch {
      unsafe copy.deallocate()
      throw error
    }
    self.properties = face.properties
    self.idle.withLock { $0.append(face) }
  }

  /// Maps a file; `nil` if it cannot be read or is not a font.
  ///
  /// - Parameter index: The number of the font in a collection.
  init?(path: String, index: Int = 0) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_size > 0,
      status.st_size <= Self.maxFileBytes,
      let start = unsafe mmap(
        nil, Int(status.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0),
      unsafe start != MAP_FAILED
    else { return nil }
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: Int(status.st_size))
    guard let face = try? unsafe Face(bytes, index: index) else {
      unsafe munmap(start, bytes.count)
      return nil
    }
    unsafe self.bytes = bytes
    self.isMapped = true
    self.index = index
    self.properties = face.properties
    self.idle.withLock { $0.append(face) }
  }

  deinit {
    self.idle.withLock { $0 = [] }
    if self.isMapped {
      unsafe munmap(UnsafeMutableRawPointer(mutating: self.bytes.baseAddress), self.bytes.count)
    } else {
      unsafe self.bytes.deallocate()
    }
  }

  /// Takes a face, which ``put(back:)`` returns.
  func takeFace() throws(TextError) -> Face {
    if let face = self.idle.withLock({ $0.popLast() }) { return face }
    return try unsafe Face(self.bytes, index: self.index)
  }

  /// Returns a face for other texts.
  func put(back face: Face) {
    self.idle.withLock { idle in
      if idle.count < Self.maxIdleFaces { idle.append(face) }
    }
  }
}

/// The faces of one text while it is drawn.
struct FaceSet: ~Copyable {
  private var faces: [(file: FontFile, face: Face)] = []

  init() {}

  deinit {
    for (file, face) in self.faces { file.put(back: face) }
  }

  mutating func face(of file: FontFile) throws(TextError) -> Face {
    if let known = self.faces.first(where: { $0.file === file }) { return known.face }
    let face = try file.takeFace()
    self.faces.append((file, face))
    return face
  }
}
