extension FilterCatalogue {
  /// Adds the filters of this module. They replace filters of the same names.
  package mutating func registerPixelFilters() {
    for type in Self.filterTypes { self.register(type) }
    for effect in PhotoEffect.all { self.register(effect) }
  }
}
