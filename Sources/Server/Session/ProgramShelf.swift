import SidelightKernels

/// The programs of a session's last frames, so that they are not looked up for each frame. Sizes may
/// alternate from frame to frame (simulcast), so a few are kept, but together no more than one may hold.
struct CompiledPipelineCache: ~Copyable {
  private struct Entry {
    var revision: UInt64
    var form: PictureForm
    var compiledPipeline: CompiledPipeline
  }

  private static let capacity = 4

  private let engine: Engine
  private let output: OutputShape
  private let allowsReduced: Bool
  private var entries: [Entry] = []

  init(engine: Engine, output: OutputShape, allowsReduced: Bool) {
    self.engine = engine
    self.output = output
    self.allowsReduced = allowsReduced
  }

  /// The program of a selection for pictures of a form. One that is not there yet is compiled on a
  /// compute thread: it may take long, and the caller's thread carries other connections too.
  mutating func compiledPipeline(for selection: ActivePipeline, _ form: PictureForm) async -> CompiledPipeline {
    let known = self.entries.first {
      $0.revision == selection.revision.number && $0.form == form
    }
    if let known { return known.compiledPipeline }
    let (engine, output, allowsReduced) = (self.engine, self.output, self.allowsReduced)
    let compiledPipeline = await withTaskExecutorPreference(engine.compute) {
      await engine.compile(selection.pipeline, form, as: output, allowsReduced: allowsReduced)
    }
    while self.entries.count >= Self.capacity
      || (!self.entries.isEmpty && self.byteCost + compiledPipeline.byteCost > engine.maxPlanBytes)
    {
      self.entries.removeFirst()
    }
    self.entries.append(
      Entry(revision: selection.revision.number, form: form, compiledPipeline: compiledPipeline))
    return compiledPipeline
  }

  private var byteCost: Int { self.entries.reduce(0) { $0 + $1.compiledPipeline.byteCost } }
}
