import SidelightKernels

/// The compiled pipelines of a session's last frames. Sizes may alternate from frame to frame
/// (simulcast), so it keeps several; together they hold no more memory than one plan may.
struct CompiledPipelineCache: ~Copyable {
  /// A pipeline of a revision.
  private struct Key: Hashable {
    var revision: UInt64
    /// Whether it is the pipeline that a transition to the revision leads from.
    var isEarlier: Bool
    var form: PictureForm
  }

  private struct Entry {
    var key: Key
    var compiled: CompiledPipeline
    /// The cost of the frames of a glide to the pipeline; `nil` before the first.
    var glideCost: CostEstimate?
  }

  /// Four forms, with both pipelines of a transition.
  private static let capacity = 8

  private let compiler: PipelineCompiler
  private let compute: ComputePool
  private let output: OutputShape
  private let allowsReduced: Bool
  private var entries: [Entry] = []

  /// - Parameters:
  ///   - compute: The threads that compile.
  ///   - output: The form of the results.
  ///   - allowsReduced: Whether to compile cheaper variants too.
  init(
    compiler: PipelineCompiler, compute: ComputePool, output: OutputShape, allowsReduced: Bool
  ) {
    self.compiler = compiler
    self.compute = compute
    self.output = output
    self.allowsReduced = allowsReduced
  }

  /// Returns the compiled pipeline for pictures of a form. Compiles a missing one on a compute
  /// thread: compilation may take long, and the caller's thread serves other connections too.
  mutating func compiledPipeline(
    for active: ActivePipeline, _ form: PictureForm
  ) async -> CompiledPipeline {
    await self.compiledPipeline(
      active.pipeline, Key(revision: active.revision.number, isEarlier: false, form: form))
  }

  /// Returns the pipeline that a transition leads from, compiled for pictures of a form.
  ///
  /// - Parameter revision: The revision that the transition leads to.
  mutating func compiledPipeline(
    earlier pipeline: ResolvedPipeline, than revision: Revision, _ form: PictureForm
  ) async -> CompiledPipeline {
    await self.compiledPipeline(
      pipeline, Key(revision: revision.number, isEarlier: true, form: form))
  }

  /// Compiles the pipeline of one frame in a glide, which no other frame needs.
  ///
  /// - Parameters:
  ///   - earlier: The pipeline that the glide leads from.
  ///   - later: The pipeline that it leads to.
  ///   - revision: The revision of the later one.
  mutating func compiledPipeline(
    _ pipeline: ResolvedPipeline, from earlier: CompiledPipeline, to later: CompiledPipeline,
    _ revision: Revision
  ) async -> CompiledPipeline {
    let (compiler, output) = (self.compiler, self.output)
    // Its frames may cost less or more than those of either pipeline, which other sessions use.
    let key = Key(revision: revision.number, isEarlier: false, form: later.form)
    let index = self.entries.firstIndex { $0.key == key }
    let cost =
      index.flatMap { self.entries[$0].glideCost }
      ?? compiler.estimate(between: earlier.cost, later.cost)
    if let index { self.entries[index].glideCost = cost }
    return await withTaskExecutorPreference(self.compute) {
      await compiler.compile(pipeline, like: later, as: output, cost: cost)
    }
  }

  /// The bytes that one plan may hold.
  var maxPlanBytes: Int { self.compiler.maxPlanBytes }

  private mutating func compiledPipeline(
    _ pipeline: ResolvedPipeline, _ key: Key
  ) async -> CompiledPipeline {
    if let cached = self.entries.first(where: { $0.key == key }) { return cached.compiled }
    let (compiler, output, allowsReduced) = (self.compiler, self.output, self.allowsReduced)
    let compiled = await withTaskExecutorPreference(self.compute) {
      await compiler.compile(
        pipeline, for: key.form, as: output, allowsReduced: allowsReduced)
    }
    while self.entries.count >= Self.capacity
      || (!self.entries.isEmpty && self.byteCost + compiled.byteCost > compiler.maxPlanBytes)
    {
      self.entries.removeFirst()
    }
    self.entries.append(Entry(key: key, compiled: compiled))
    return compiled
  }

  private var byteCost: Int { self.entries.reduce(0) { $0 + $1.compiled.byteCost } }
}
