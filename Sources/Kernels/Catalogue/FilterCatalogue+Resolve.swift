extension FilterCatalogue {
  /// Finds the filters that a pipeline names and checks everything that it says.
  ///
  /// Names may be ours or Core Image's. A bare number is accepted for a length (pixels), a vector of
  /// two numbers for a point (pixels), and one of three or four for a colour.
  ///
  /// - Throws: ``PipelineError``, with the path of the first fault.
  public func resolve(_ pipeline: Pipeline) throws(PipelineError) -> ResolvedPipeline {
    try pipeline.checkSizes()
    var resolver = PipelineResolver(catalogue: self)
    let space = pipeline.workingSpace ?? .sRGBGamma
    let items = try resolver.resolve(pipeline, in: space, path: "", depth: 1)
    return ResolvedPipeline(items: items, workingSpace: space)
  }
}
