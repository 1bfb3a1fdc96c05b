import SidelightKernelLanguage
import SidelightKernels

/// Compiles pipelines for pictures of a form, and caches plans and cost estimates for all sessions.
struct PipelineCompiler: Sendable {
  /// The filters, with the assets that the server itself provides.
  let catalogue: FilterCatalogue
  /// The plans that are or were recently in use.
  let plans: PlanCache
  /// The cost estimates of pipelines.
  let costs = CostTable()
  /// The maximum memory of one plan, and of all compiled pipelines of a session, in bytes.
  let maxPlanBytes: Int

  /// The maximum number of threads that share the work of a frame.
  private let threads: Int

  init(_ configuration: ServerConfiguration, catalogue: FilterCatalogue) {
    self.threads = configuration.computeThreads
    self.catalogue = catalogue
    self.plans = PlanCache(
      maxBytes: configuration.maxTotalPlanBytes / 4, maxPlanBytes: configuration.maxPlanBytes,
      maxLiveBytes: configuration.maxTotalPlanBytes)
    self.maxPlanBytes = configuration.maxPlanBytes
  }

  /// Compiles a pipeline on the task's preferred executor.
  ///
  /// - Parameter allowsReduced: Whether to compile a cheaper variant too, if possible.
  @concurrent
  func compile(
    _ pipeline: ResolvedPipeline, for form: PictureForm, as output: OutputShape,
    allowsReduced: Bool
  ) async -> CompiledPipeline {
    self.compiledPipeline(for: pipeline, form, as: output, allowsReduced: allowsReduced)
  }

  /// Compiles the pipeline of one frame in a glide, on the task's preferred executor. The plans of
  /// a glide are not cached, because they would evict others.
  ///
  /// - Parameters:
  ///   - later: The pipeline at the end of the glide, for the same pictures.
  ///   - output: The form of the results.
  ///   - cost: The estimate that the frames of the glide share.
  @concurrent
  func compile(
    _ pipeline: ResolvedPipeline, like later: CompiledPipeline, as output: OutputShape,
    cost: CostEstimate
  ) async -> CompiledPipeline {
    let form = later.form
    let delivery = output.delivery(of: form)
    let shaped = pipeline.shaped(delivery.shape)
    return CompiledPipeline(
      form: form,
      plan: shaped.plan(
        for: form.geometry, as: delivery.encoding, maxBytes: PlanCache.smallPlanBytes),
      output: output,
      changesNothing: delivery.changesNothing(in: form) { shaped.plan(for: form.geometry) },
      cost: cost, isCustom: later.isCustom)
  }

  /// Returns a new estimate for pipelines between two, which expects the cost of the more expensive
  /// one.
  func estimate(between first: CostEstimate, _ second: CostEstimate) -> CostEstimate {
    CostEstimate(
      priorWork: [first.work, second.work].compactMap(\.self).max(), threads: self.threads)
  }

  /// Compiles a replacement for frames that must not be shown unfiltered.
  ///
  /// Averages blocks of an eighth of the short side and blurs them, which makes faces and text
  /// unrecognizable.
  func compileBlur(
    for form: PictureForm, as output: OutputShape
  ) throws(PipelineError) -> CompiledPipeline {
    self.compiledPipeline(for: try Self.blur.get(), form, as: output, allowsReduced: false)
  }

  /// Returns whether custom filters are among the active filters of a pipeline. Such filters may
  /// never return.
  func isCustom(_ pipeline: ResolvedPipeline) -> Bool { self.customFilter(of: pipeline) != nil }

  /// Returns the name of the first custom filter among the active filters of a pipeline.
  func customFilter(of pipeline: ResolvedPipeline) -> String? {
    pipeline.activeFilters.first { name in
      guard let description = self.catalogue.description(named: name) else { return false }
      return description.fidelity == .custom && description.category != .analysis
        && !description.isRemote
    }
  }

  private static let blur = Result { () throws(PipelineError) in
    try FilterCatalogue.builtIn.resolve([
      .filter("pixellate", ["scale": .length(Length(0.125, .shortSide))]),
      .filter("gaussianBlur", ["radius": .length(Length(0.0625, .shortSide))]),
    ])
  }

  private func compiledPipeline(
    for pipeline: ResolvedPipeline, _ form: PictureForm, as output: OutputShape,
    allowsReduced: Bool
  ) -> CompiledPipeline {
    let reduced =
      allowsReduced ? self.catalogue.reduced(pipeline, for: form.geometry.size) : nil
    let delivery = output.delivery(of: form)
    let shaped = pipeline.shaped(delivery.shape)
    let plan = self.plans.plan(for: shaped, form.geometry, as: delivery.encoding)
    return CompiledPipeline(
      form: form, plan: plan, output: output,
      changesNothing: delivery.changesNothing(in: form) {
        self.plans.plan(for: shaped, form.geometry)
      },
      cost: self.costs.estimate(for: pipeline, form, as: output) {
        let time = plan.kernelTime
        return CostEstimate(priorWork: time > .zero ? time : nil, threads: self.threads)
      },
      isCustom: self.isCustom(pipeline) || plan.hasCustomScene,
      reduced: reduced.map {
        self.compiledPipeline(for: $0, form, as: output, allowsReduced: false)
      })
  }
}
