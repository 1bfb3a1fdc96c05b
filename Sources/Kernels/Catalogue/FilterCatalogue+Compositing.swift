extension FilterCatalogue {
  /// Adds the filters that bring a second picture in.
  mutating func registerCompositingFilters() {
    self.register(BlendWithMask.self)
    self.register(MultiplyCompositing.self)
    self.register(Overlay.self)
    self.register(ScreenBlendMode.self)
    self.register(SourceOverCompositing.self)
  }
}
