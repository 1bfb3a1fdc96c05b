public import SidelightKernels

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
