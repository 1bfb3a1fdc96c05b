extension FilterCatalogue {
  /// Adds the filters of this module. They replace filters of the same names.
  package mutating func registerPixelFilters() {
    for type in Self.filterTypes { self.register(type) }
    for effect in PhotoEffect.all { self.register(effect) }
    self.registerBackgrounds(MatteTools())
  }

  /// Adds the filters of the background by using sources of mattes. They replace the same filters
  /// added with other sources.
  package mutating func registerBackgrounds(_ tools: MatteTools) {
    let models = tools.models.keys.sorted()
    self.register(VirtualBackground.description(models: models)) {
      VirtualBackground($0, mattes: tools)
    }
    self.register(BackgroundBlur.description(models: models)) {
      BackgroundBlur($0, mattes: tools)
    }
  }
}
