import GRPCCore
import SidelightCodecs
import SidelightKernels
import SidelightWire

/// What a selection comes to for pictures of one form.
final class CompiledPipeline: Sendable {
  /// The pictures that it is for.
  let form: PictureForm
  let plan: Plan
  /// What its results are.
  let delivery: OutputShape.Delivery
  /// How JPEGs are written.
  let jpeg: JPEGSettings
  /// Whether pictures come back as they are, byte for byte.
  let changesNothing: Bool
  /// What a frame takes.
  let cost: CostEstimate
  /// Whether filters of a user's own are among the active ones: they may take any time.
  let isCustom: Bool
  /// A cheaper variant that may stand in when there is no time; `nil` if there is none.
  let reduced: CompiledPipeline?

  init(
    form: PictureForm, plan: Plan, output: OutputShape, changesNothing: Bool, cost: CostEstimate,
    isCustom: Bool, reduced: CompiledPipeline? = nil
  ) {
    self.form = form
    self.plan = plan
    self.delivery = output.delivery(of: form)
    self.jpeg = output.jpeg
    self.changesNothing = changesNothing
    self.cost = cost
    self.isCustom = isCustom
    self.reduced = reduced
  }

  /// - Throws: ``FieldFault`` if there is no plan, or what comes out is too large.
  func check(_ limits: FrameLimits) throws(FieldFault) {
    try self.plan.checkCost()
    var limits = limits
    // How long a file is, is known when it is made.
    if self.delivery.coding.isFile { limits.maxBytes = .max }
    try limits.check(
      output: self.plan.output, field: self.delivery.shape.isAny ? "pipeline" : "output")
  }

  /// What the program holds in memory.
  var byteCost: Int { self.plan.byteCost + (self.reduced?.byteCost ?? 0) }

  /// The variant, unless it is known to be no cheaper here.
  var cheaperVariant: CompiledPipeline? {
    guard let reduced, let own = self.cost.expected, let its = reduced.cost.expected else {
      return self.reduced
    }
    return its < own ? reduced : nil
  }
}

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

extension Plan {
  /// - Throws: ``FieldFault``, RESOURCE_EXHAUSTED, if it was refused for what it would hold in memory.
  func checkCost() throws(FieldFault) {
    guard let refusal else { return }
    let limit =
      refusal.isShared
      ? "\(refusal.limit) are left of what all pipelines may hold (max_total_plan_bytes)"
      : "the limit is \(refusal.limit) (max_plan_bytes)"
    throw FieldFault(
      code: .resourceExhausted, field: "pipeline",
      reason: "would hold at least \(refusal.byteCount) bytes of images and fields for frames of "
        + "\(self.input.size), \(limit)")
  }
}
