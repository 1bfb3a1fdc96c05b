import SidelightKernels
import SidelightWire

/// A named output that a client requests: a valid `Output` message.
struct NamedOutput: Sendable {
  let name: String
  /// The pipeline that filters the session's results.
  let pipeline: RequestedPipeline
  /// The form of the output's results.
  let shape: OutputShape
  /// The settings of the encoder, if the results are encoded video.
  let encoder: EncoderRequest
  /// The frames per second beyond which frames are left out evenly. `nil` disables the limit.
  let maxFPS: Double?

  /// The geometry of the frames for which the kinds of a pipeline's stages are checked.
  private static let sample = FrameGeometry(
    format: .bgra8, size: FrameSize(width: 64, height: 64), color: ColorDescription())

  /// Reads the outputs of `open`.
  ///
  /// - Throws: ``FieldViolation`` for a value outside its range, for a name that is missing, not
  ///   printable or used twice, and for options that sessions with outputs don't have.
  static func outputs(
    of open: Sidelight_V1_Open, limits: FrameLimits
  ) throws(FieldViolation) -> [NamedOutput] {
    guard !open.outputs.isEmpty else { return [] }
    try ContractLimits.check(
      count: open.outputs.count, atMost: ContractLimits.maxOutputs, field: "open.outputs")
    guard !open.hasOutput else {
      throw FieldViolation(
        field: "open.output",
        reason: "is set beside open.outputs; state the format and size in every named output")
    }
    guard !open.analysisOnly else {
      throw FieldViolation(
        field: "open.analysis_only", reason: "is set beside open.outputs; leave one of them out")
    }
    var outputs: [NamedOutput] = []
    for (index, message) in open.outputs.enumerated() {
      try FieldViolation.within("open.outputs[\(index)]") { () throws(FieldViolation) in
        let output = try NamedOutput(message, limits: limits)
        if let other = outputs.firstIndex(where: { $0.name == output.name }) {
          throw FieldViolation(
            field: "name", reason: "'\(output.name)' is the name of open.outputs[\(other)] too",
            info: .init(value: output.name))
        }
        outputs.append(output)
      }
    }
    return outputs
  }

  private init(_ message: Sidelight_V1_Output, limits: FrameLimits) throws(FieldViolation) {
    guard !message.name.isEmpty else {
      throw FieldViolation(field: "name", reason: "is empty; every output needs a name")
    }
    try ContractLimits.check(message.name, atMost: Pipeline.maxNameBytes, field: "name")
    try ParticipantName.checkCharacters(of: message.name, field: "name")
    self.name = message.name
    self.pipeline = try RequestedPipeline(message)
    (self.shape, self.encoder) = try FieldViolation.within("output") { () throws(FieldViolation) in
      (
        try OutputShape(message.output, limits: limits, allowsPNG: false),
        try EncoderRequest(message.output.encoder)
      )
    }
    self.maxFPS = try SessionOptions.frameRate(message.maxFps, field: "max_fps")
  }

  /// Looks up the filters of the output's pipeline.
  ///
  /// - Throws: ``FieldViolation`` also for filters that need more than the finished frame: custom
  ///   filters, analyses, and filters that follow the scene.
  func resolvedPipeline(
    in catalogue: FilterCatalogue, _ compiler: PipelineCompiler
  ) throws(FieldViolation) -> ResolvedPipeline {
    let resolved = try self.pipeline.resolved(in: catalogue)
    let field = self.pipeline.field
    if let custom = compiler.customFilter(of: resolved) {
      throw Self.unsupported(custom, "is a custom filter", field)
    }
    let plan = resolved.plan(for: Self.sample, maxBytes: compiler.maxPlanBytes)
    try plan.checkCost(field: field)
    if let stage = plan.sceneStages.first {
      throw Self.unsupported(stage.filter, "follows the contents of the arriving frames", field)
    }
    if let analysis = plan.analyses.first {
      throw Self.unsupported(analysis.filter, "is an analysis", field)
    }
    return resolved
  }

  private static func unsupported(
    _ filter: String, _ reason: String, _ field: String
  ) -> FieldViolation {
    FieldViolation(
      field: field,
      reason: "the filter '\(filter)' \(reason); use it in the session's pipeline, whose results "
        + "the outputs share",
      info: .init(value: filter))
  }
}
