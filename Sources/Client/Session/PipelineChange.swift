package import SidelightKernels

/// What a participant asks to be changed about a pipeline.
package enum PipelineChange: Sendable, Hashable {
  /// Another one takes its place.
  case select(Pipeline)
  /// Parameters by name, by stage.
  case update([String: [String: ParameterValue]])
  /// Whether each stage is on.
  case activate([String: Bool])

  /// Does to `pipeline` what the server does. What cannot be done is left out: the server refuses it.
  func apply(to pipeline: inout Pipeline) {
    var changed = pipeline
    do throws(PipelineError) {
      switch self {
      case .select(let other): changed = other
      case .update(let stages):
        for (stage, parameters) in stages {
          try changed.setParameters(parameters, stage: stage)
        }
      case .activate(let stages):
        for (stage, isActive) in stages { try changed.setActive(isActive, stage: stage) }
      }
    } catch {
      return
    }
    pipeline = changed
  }
}
