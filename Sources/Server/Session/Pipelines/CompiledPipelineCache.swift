import SidelightKernels
import SidelightWire

/// The compiled pipelines of a session's last frames. Sizes may alternate from frame to frame
/// (simulcast), so it keeps several, which together hold at most the memory of one plan.
struct CompiledPipelineCache: ~Copyable {
  /// A pipeline of a revision.
  private struct Key: Hashable {
    var revision: UInt64
    /// Whether it is the pipeline that a transition to the revision leads from.
    var isEarlier: Bool
    var form: PictureForm
    /// The form of the results.
    var output: OutputShape
  }

  private struct Entry {
    var key: Key
    var compiled: CompiledPipeline
    /// The cost of the frames of a glide to the pipeline, or `nil` before the first.
    var glideCost: CostEstimate?
  }

  /// Four forms, with both pipelines of a transition.
  private static let capacity = 8

  /// The deadline assumed by the scheduler for a compilation, from its request.
  private static let budget = Duration.milliseconds(200)

  private let compiler: PipelineCompiler
  private let processing: FrameProcessing
  private let clock: SessionClock
  private let session: UInt64
  private let output: EncodedOutput
  private let allowsReduced: Bool
  /// The duration of the session's compilations.
  private let cost = CostEstimate(priorWork: .milliseconds(1))
  private var entries: [Entry] = []

  init(engine: Engine, session: UInt64, output: EncodedOutput, allowsReduced: Bool) {
    self.compiler = engine.compiler
    self.processing = engine.processing
    self.clock = engine.clock
    self.session = session
    self.output = output
    self.allowsReduced = allowsReduced
  }

  /// Returns the compiled pipeline for pictures of a form. Compiles a missing one when the
  /// scheduler grants a turn: compilation may take long, and the session is charged for it.
  ///
  /// - Throws: `CancellationError`.
  mutating func compiledPipeline(
    for active: ActivePipeline, _ form: PictureForm
  ) async throws -> CompiledPipeline {
    try await self.compiledPipeline(
      active.pipeline, self.key(of: active.revision, isEarlier: false, form))
  }

  /// Returns the pipeline that a transition leads from, compiled for pictures of a form.
  ///
  /// - Parameter revision: The revision that the transition leads to.
  /// - Throws: `CancellationError`.
  mutating func compiledPipeline(
    earlier pipeline: ResolvedPipeline, than revision: Revision, _ form: PictureForm
  ) async throws -> CompiledPipeline {
    try await self.compiledPipeline(
      pipeline, self.key(of: revision, isEarlier: true, form))
  }

  /// Compiles the pipeline of one frame in a glide, which isn't used for other frames. It takes
  /// microseconds and doesn't need a turn.
  ///
  /// - Parameters:
  ///   - earlier: The pipeline that the glide leads from.
  ///   - later: The pipeline that it leads to.
  mutating func compiledPipeline(
    _ pipeline: ResolvedPipeline, from earlier: CompiledPipeline, to later: CompiledPipeline,
    _ revision: Revision
  ) async -> CompiledPipeline {
    let (compiler, output) = (self.compiler, later.output)
    // Its frames may cost less or more than either pipeline's frames, which other sessions use.
    let key = self.key(of: revision, isEarlier: false, later.form)
    let index = self.entries.firstIndex { $0.key == key }
    let cost =
      index.flatMap { self.entries[$0].glideCost }
      ?? compiler.estimate(between: earlier.cost, later.cost)
    if let index { self.entries[index].glideCost = cost }
    return await withTaskExecutorPreference(self.processing.compute) {
      await compiler.compile(pipeline, like: later, as: output, cost: cost)
    }
  }

  private func key(of revision: Revision, isEarlier: Bool, _ form: PictureForm) -> Key {
    Key(
      revision: revision.number, isEarlier: isEarlier, form: form, output: self.output.shape)
  }

  /// The maximum memory of one plan, in bytes.
  var maxPlanBytes: Int { self.compiler.maxPlanBytes }

  private mutating func compiledPipeline(
    _ pipeline: ResolvedPipeline, _ key: Key
  ) async throws -> CompiledPipeline {
    if let cached = self.entries.first(where: { $0.key == key }) { return cached.compiled }
    let (compiler, allowsReduced) = (self.compiler, self.allowsReduced)
    let (clock, cost) = (self.clock, self.cost)
    let compiled = try await self.processing.scheduler.withTurn(
      session: self.session, deadline: clock.now() + Self.budget, cost: cost.work
    ) { _, _ in
      let start = clock.now()
      defer { cost.record(clock.now() - start) }
      return await compiler.compile(
        pipeline, for: key.form, as: key.output, allowsReduced: allowsReduced)
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
