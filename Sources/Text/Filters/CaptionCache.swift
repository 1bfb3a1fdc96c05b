package import SidelightKernels
import Synchronization

/// The latest texts that were drawn, for all plans of a catalogue.
///
/// It holds at most ``maxBytes``; the texts that have not been used for the longest time are
/// removed first. It does not retain uploaded fonts, and removes the texts of fonts that are gone.
final class CaptionCache: Sendable {
  /// Everything on which the samples of a text depend.
  struct Key: Sendable, Hashable {
    /// The text; its font is a placeholder if ``asset`` is not `nil`.
    fileprivate let request: TextRequest
    /// The identity of an uploaded font, which the key does not retain.
    fileprivate let asset: ObjectIdentifier?
    private let opacity: Double
    private let geometry: FrameGeometry

    init(request: TextRequest, opacity: Double, geometry: FrameGeometry) {
      var request = request
      if case .asset(let font) = request.font {
        self.asset = ObjectIdentifier(font)
        request.font = .bundled(.inter)
      } else {
        self.asset = nil
      }
      self.request = request
      self.opacity = opacity
      self.geometry = geometry
    }
  }

  private struct Entry {
    let samples: CaptionSamples?
    var lastUse: UInt64
  }

  /// A font that entries belong to. A later font may have the identity of a released one.
  private struct KnownFont {
    weak var font: FontAsset?
  }

  private struct State {
    var entries: [Key: Entry] = [:]
    /// The uploaded fonts of the entries.
    var fonts: [ObjectIdentifier: KnownFont] = [:]
    var byteCount = 0
    var time: UInt64 = 0

    /// Removes an entry.
    mutating func remove(_ key: Key) {
      guard let entry = self.entries.removeValue(forKey: key) else { return }
      self.byteCount -= CaptionCache.byteCount(entry.samples)
    }

    /// Removes the entries of fonts that are gone.
    mutating func removeDeadFonts() {
      guard self.fonts.contains(where: { $0.value.font == nil }) else { return }
      self.fonts = self.fonts.filter { $0.value.font != nil }
      let dead = self.entries.keys.filter { key in
        key.asset.map { self.fonts[$0] == nil } ?? false
      }
      for key in dead { self.remove(key) }
    }
  }

  /// The cost of an entry without samples: its key and its position.
  private static let entryBytes = 1024

  private let maxBytes: Int
  private let state = Mutex(State())

  init(maxBytes: Int) {
    self.maxBytes = maxBytes
  }

  /// Returns the samples of a text, from the cache or newly drawn.
  ///
  /// - Parameters:
  ///   - font: The uploaded font of the key.
  ///   - isKept: Whether the samples are kept for later frames.
  ///   - make: Draws the text, outside the lock.
  func samples(
    _ key: Key, of font: FontAsset?, isKept: Bool,
    make: () throws(TextError) -> CaptionSamples?
  ) throws(TextError) -> CaptionSamples? {
    let found = self.state.withLock { state -> Entry? in
      state.removeDeadFonts()
      guard var entry = state.entries[key] else { return nil }
      state.time += 1
      entry.lastUse = state.time
      state.entries[key] = entry
      return entry
    }
    if let found { return found.samples }
    let samples = try make()
    let byteCount = Self.byteCount(samples)
    self.state.withLock { state in
      guard isKept, byteCount <= self.maxBytes, state.entries[key] == nil else { return }
      while state.byteCount + byteCount > self.maxBytes,
        let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse })
      {
        state.remove(oldest.key)
      }
      if let font { state.fonts[ObjectIdentifier(font)] = KnownFont(font: font) }
      state.time += 1
      state.entries[key] = Entry(samples: samples, lastUse: state.time)
      state.byteCount += byteCount
    }
    return samples
  }

  private static func byteCount(_ samples: CaptionSamples?) -> Int {
    Self.entryBytes + (samples?.byteCount ?? 0)
  }
}

/// A renderer of texts with a cache of drawn texts.
package final class TextTools: Sendable {
  package let renderer: any TextRenderer
  private let cache: CaptionCache

  /// - Parameter maxCacheBytes: The maximum memory of drawn texts that are kept.
  package init(_ renderer: any TextRenderer, maxCacheBytes: Int) {
    self.renderer = renderer
    self.cache = CaptionCache(maxBytes: maxCacheBytes)
  }

  /// Returns a drawn text for frames of a geometry.
  ///
  /// - Parameters:
  ///   - opacity: A factor of the text's alpha.
  ///   - isKept: Whether later frames may show the same text.
  /// - Returns: `nil` if the text doesn't cover pixels.
  /// - Throws: ``TextError`` of the renderer.
  package func samples(
    _ request: TextRequest, opacity: Double, for geometry: FrameGeometry, isKept: Bool
  ) throws(TextError) -> CaptionSamples? {
    let key = CaptionCache.Key(request: request, opacity: opacity, geometry: geometry)
    var font: FontAsset?
    if case .asset(let asset) = request.font { font = asset }
    return try self.cache.samples(
      key, of: font, isKept: isKept
    ) { () throws(TextError) -> CaptionSamples? in
      guard let caption = try self.renderer.render(request) else { return nil }
      return CaptionSamples(caption, opacity: opacity, for: geometry)
    }
  }
}
