import Synchronization

/// The latest texts that were drawn, for all plans of a catalogue.
///
/// It holds at most ``maxBytes``; the texts that have not been used for the longest time are
/// removed first.
final class PlateCache: Sendable {
  /// Everything on which the samples of a text depend.
  struct Key: Sendable, Hashable {
    let request: TextRequest
    let opacity: Double
    let geometry: FrameGeometry
  }

  private struct Entry {
    let samples: PlateSamples?
    var lastUse: UInt64
  }

  private struct State {
    var entries: [Key: Entry] = [:]
    var byteCount = 0
    var time: UInt64 = 0
    var renderCount = 0
  }

  /// The cost of an entry without samples: its key and its place.
  private static let entryBytes = 1024

  private let maxBytes: Int
  private let state = Mutex(State())

  init(maxBytes: Int) {
    self.maxBytes = maxBytes
  }

  /// How often a text was drawn.
  var renderCount: Int { self.state.withLock(\.renderCount) }

  /// Returns the samples of a text: those of the cache, or new ones.
  ///
  /// - Parameters:
  ///   - isKept: Whether the samples are kept for later frames.
  ///   - make: Draws the text, outside the lock.
  func samples(
    _ key: Key, isKept: Bool, make: () throws(TextError) -> PlateSamples?
  ) throws(TextError) -> PlateSamples? {
    let found = self.state.withLock { state -> Entry? in
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
      state.renderCount += 1
      guard isKept, byteCount <= self.maxBytes, state.entries[key] == nil else { return }
      while state.byteCount + byteCount > self.maxBytes,
        let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse })
      {
        state.entries[oldest.key] = nil
        state.byteCount -= Self.byteCount(oldest.value.samples)
      }
      state.time += 1
      state.entries[key] = Entry(samples: samples, lastUse: state.time)
      state.byteCount += byteCount
    }
    return samples
  }

  private static func byteCount(_ samples: PlateSamples?) -> Int {
    Self.entryBytes + (samples?.byteCount ?? 0)
  }
}

/// A renderer of texts with the cache of those that it has drawn.
final class TextTools: Sendable {
  let renderer: any TextRenderer
  private let cache: PlateCache

  /// - Parameter maxCacheBytes: The most memory of drawn texts that are kept.
  init(_ renderer: any TextRenderer, maxCacheBytes: Int) {
    self.renderer = renderer
    self.cache = PlateCache(maxBytes: maxCacheBytes)
  }

  /// How often a text was drawn.
  var renderCount: Int { self.cache.renderCount }

  /// Returns a drawn text for frames of a geometry.
  ///
  /// - Parameters:
  ///   - opacity: A factor of the text's alpha.
  ///   - isKept: Whether later frames may show the same text.
  /// - Returns: `nil` if no pixel is covered.
  /// - Throws: ``TextError`` of the renderer.
  func samples(
    _ request: TextRequest, opacity: Double, for geometry: FrameGeometry, isKept: Bool
  ) throws(TextError) -> PlateSamples? {
    let key = PlateCache.Key(request: request, opacity: opacity, geometry: geometry)
    return try self.cache.samples(key, isKept: isKept) { () throws(TextError) -> PlateSamples? in
      guard let plate = try self.renderer.render(request) else { return nil }
      return PlateSamples(plate, opacity: opacity, for: geometry)
    }
  }
}
