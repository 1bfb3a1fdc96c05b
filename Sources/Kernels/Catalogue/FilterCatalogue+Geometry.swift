extension FilterCatalogue {
  /// Adds the filters that move pixels to other places, or change the size of frames.
  mutating func registerGeometryFilters() {
    self.register(AffineTransform.self)
    self.register(Crop.self)
    self.register(Orient.self)
    self.register(Scale.self)
  }
}
