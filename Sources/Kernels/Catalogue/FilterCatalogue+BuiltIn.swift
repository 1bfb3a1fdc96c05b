extension FilterCatalogue {
  /// The filters that come with this package.
  public static let builtIn: FilterCatalogue = {
    var catalogue = FilterCatalogue()
    catalogue.registerColorFilters()
    catalogue.registerCompositingFilters()
    catalogue.registerGeometryFilters()
    // One line a filter, in the order of the folders.
    catalogue.register(GaussianBlur.self)
    catalogue.register(ColorControls.self)
    catalogue.register(ColorInvert.self)
    catalogue.register(Grayscale.self)
    catalogue.register(HueAdjust.self)
    catalogue.register(SepiaTone.self)
    catalogue.register(Vignette.self)
    catalogue.register(Pixellate.self)
    return catalogue
  }()
}
