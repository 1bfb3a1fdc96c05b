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
