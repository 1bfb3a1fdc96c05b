import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// A change of the pipeline that a client requests, valid or not.
enum ModelChange: Sendable {
  case select(ModelPipeline)
  case update(stage: String, by: Int)
  case activate([String: Bool])
  case invalidSelect(InvalidSelect)

  /// Invalid pipelines.
  enum InvalidSelect: CaseIterable, Sendable {
    case unknownFilter
    case unknownParameter
    case notANumber
    case sameIDTwice
    case noContent
    case tooManyStages
    case brokenText
  }

  /// Returns the changed pipeline; `nil` if the server must refuse the change.
  func result(from old: ModelPipeline) -> ModelPipeline? {
    switch self {
    case .select(let pipeline): return pipeline
    case .invalidSelect: return nil
    case .update(let id, let by):
      var new = old
      guard let index = new.stages.firstIndex(where: { $0.id == id }),
        case .shift(_, let rounds) = new.stages[index].content
      else { return nil }
      new.stages[index].content = .shift(by: by, rounds: rounds)
      return new
    case .activate(let flags):
      var new = old
      for (id, isActive) in flags {
        guard let index = new.stages.firstIndex(where: { $0.id == id }) else { return nil }
        new.stages[index].isActive = isActive
      }
      return new
    }
  }

  func message(
    requestID: UInt64, ifRevision revision: UInt64?
  ) -> Sidelight_V1_ClientMessage {
    switch self {
    case .select(let pipeline): Self.select(pipeline.source(requestID), requestID, revision)
    case .invalidSelect(.brokenText):
      Self.select(.pipelineText("shift(by: 1"), requestID, revision)
    case .invalidSelect(let fault):
      Self.select(.pipeline(fault.pipeline), requestID, revision)
    case .update(let stage, let by):
      .with {
        $0.update.stages = [
          .with {
            $0.stage = stage
            $0.parameters["by"] = .with { $0.number = Double(by) }
          }
        ]
        $0.update.requestID = requestID
        if let revision { $0.update.ifRevision = revision }
      }
    case .activate(let stages):
      .with {
        $0.activate.stages = stages
        $0.activate.requestID = requestID
        if let revision { $0.activate.ifRevision = revision }
      }
    }
  }

  private static func select(
    _ source: Sidelight_V1_Select.OneOf_PipelineSource, _ requestID: UInt64, _ revision: UInt64?
  ) -> Sidelight_V1_ClientMessage {
    .with {
      $0.select.pipelineSource = source
      $0.select.requestID = requestID
      if let revision { $0.select.ifRevision = revision }
    }
  }
}

extension ModelPipeline {
  /// Returns the pipeline as text in every other request, if the text can express it: texts omit
  /// failure policies.
  fileprivate func source(_ requestID: UInt64) -> Sidelight_V1_Select.OneOf_PipelineSource {
    let text = self.pipeline.text
    if requestID.isMultiple(of: 2), (try? Pipeline(text: text)) == self.pipeline {
      return .pipelineText(text)
    }
    return .pipeline(Sidelight_V1_Pipeline(self.pipeline))
  }
}

extension ModelChange.InvalidSelect {
  fileprivate var pipeline: Sidelight_V1_Pipeline {
    func stage(_ name: String, _ parameters: [String: Double] = [:]) -> Sidelight_V1_Stage {
      .with {
        $0.filter.name = name
        $0.filter.parameters = parameters.mapValues { number in .with { $0.number = number } }
      }
    }
    return .with {
      switch self {
      case .unknownFilter: $0.stages = [stage("nobody")]
      case .unknownParameter: $0.stages = [stage("shift", ["width": 1])]
      case .notANumber: $0.stages = [stage("shift", ["by": .nan])]
      case .sameIDTwice:
        var twin = stage("shift")
        twin.id = "twin"
        $0.stages = [twin, twin]
      case .noContent: $0.stages = [Sidelight_V1_Stage()]
      case .tooManyStages: $0.stages = Array(repeating: stage("shift"), count: 65)
      case .brokenText: break
      }
    }
  }
}
