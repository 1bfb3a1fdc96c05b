package import SidelightKernels
import SidelightWire

/// A pipeline selected by a participant, parsed if possible.
package enum SelectedPipeline: Sendable, Hashable {
  case pipeline(Pipeline)
  /// Text that this library cannot parse. The server may be newer, so it decides.
  case text(String)

  /// Parses text. The server's catalogue checks its filters.
  init(text: String) {
    do throws(PipelineTextError) {
      self = .pipeline(try Pipeline(text: text))
    } catch {
      self = .text(text)
    }
  }

  /// The parts of frames that it may hide; all parts for unparsed text.
  var possibleProtection: PipelineProtection {
    switch self {
    case .pipeline(let pipeline): pipeline.protection
    case .text: .all
    }
  }

  /// The parts of frames that it certainly hides; empty for unparsed text.
  var certainProtection: PipelineProtection {
    switch self {
    case .pipeline(let pipeline): pipeline.protection
    case .text: []
    }
  }
}

/// A change of its pipeline requested by a participant.
package enum PipelineChange: Sendable, Hashable {
  /// Replaces the pipeline.
  case select(SelectedPipeline)
  /// Sets parameters by name, by stage.
  case update([String: [String: ParameterValue]])
  /// Turns stages on and off.
  case activate([String: Bool])

  /// Creates a change that replaces the pipeline.
  package static func select(_ pipeline: Pipeline) -> PipelineChange {
    .select(.pipeline(pipeline))
  }

  /// Creates a change that replaces the pipeline using text.
  package static func select(text: String) -> PipelineChange {
    .select(SelectedPipeline(text: text))
  }

  /// Whether the change replaces the whole pipeline.
  var isSelection: Bool { if case .select = self { true } else { false } }

  /// Applies the change to `selected` as the server does. Ignores a change that cannot be applied:
  /// one that the server refuses, or a change of stages of unparsed text.
  func apply(to selected: inout SelectedPipeline) {
    switch self {
    case .select(let pipeline): selected = pipeline
    case .update, .activate:
      guard case .pipeline(var pipeline) = selected else { return }
      do throws(PipelineError) {
        try self.changeStages(of: &pipeline)
      } catch {
        return
      }
      selected = .pipeline(pipeline)
    }
  }

  private func changeStages(of pipeline: inout Pipeline) throws(PipelineError) {
    switch self {
    case .select: break
    case .update(let stages):
      for (stage, parameters) in stages {
        try pipeline.setParameters(parameters, stage: stage)
      }
    case .activate(let stages):
      for (stage, isActive) in stages { try pipeline.setActive(isActive, stage: stage) }
    }
  }
}
