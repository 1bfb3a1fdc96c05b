extension FilterCatalogue {
  /// The filters that come with this package.
  public static let builtIn: FilterCatalogue = {
    var catalogue = FilterCatalogue()
    catalogue.registerColorFilters()
    catalogue.registerAreaFilters()
    catalogue.registerCompositingFilters()
    catalogue.registerGeometryFilters()
    catalogue.registerAnalyses()
    return catalogue
  }()
}
