extension FilterCatalogue {
  /// The filters that come with this package.
  public static let builtIn: FilterCatalogue = {
    var catalogue = FilterCatalogue()
    catalogue.register(ColorControls.self)
    catalogue.register(ColorInvert.self)
    catalogue.register(GaussianBlur.self)
    catalogue.register(Grayscale.self)
    catalogue.register(HueAdjust.self)
    catalogue.register(Pixellate.self)
    catalogue.register(SepiaTone.self)
    catalogue.register(Vignette.self)
    catalogue.registerAreaFilters()
    return catalogue
  }()
}
