public import SidelightKernels
import SidelightScene

extension FilterCatalogue {
  /// The filters of this package that don't need other libraries.
  public static let builtIn: FilterCatalogue = {
    var catalogue = FilterCatalogue()
    catalogue.registerPixelFilters()
    catalogue.registerSceneFilters()
    catalogue.registerKernelLanguage()
    return catalogue
  }()

  /// Adds the filter `kernel`. Its calls have the parameters that their text declares.
  package mutating func registerKernelLanguage() {
    self.register(TextKernel.description) { call, assets, path throws(PipelineError) in
      try TextKernel.parameters(of: call, assets, path: path)
    } make: {
      TextKernel($0)
    }
  }
}
