import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// A message to the server that is no frame.
enum Control: Sendable {
  case change(PipelineChange, ifRevision: UInt64?, requestID: UInt64)
  case pause(SelectionJournal.Pause)
  case ping(id: UInt64)

  /// A pipeline that was selected before.
  static func select(_ replay: SelectionJournal.Replay) -> Control {
    .change(.select(replay.pipeline), ifRevision: nil, requestID: replay.requestID)
  }

  /// - Parameter time: Nanoseconds since 1970, for pings.
  func message(at time: UInt64) -> Sidelight_V1_ClientMessage {
    .with {
      switch self {
      case .change(.select(let pipeline), let revision, let requestID):
        $0.select.pipeline = Sidelight_V1_Pipeline(pipeline)
        if let revision { $0.select.ifRevision = revision }
        $0.select.requestID = requestID
      case .change(.update(let stages), let revision, let requestID):
        $0.update.stages = stages.map { stage, parameters in
          .with {
            $0.stage = stage
            $0.parameters = parameters.mapValues(Sidelight_V1_ParameterValue.init)
          }
        }
        if let revision { $0.update.ifRevision = revision }
        $0.update.requestID = requestID
      case .change(.activate(let stages), let revision, let requestID):
        $0.activate.stages = stages
        if let revision { $0.activate.ifRevision = revision }
        $0.activate.requestID = requestID
      case .pause(.running): $0.resume = Sidelight_V1_Resume()
      case .pause(.paused(let passThrough)): $0.pause.passThrough = passThrough
      case .ping(let id):
        $0.ping.id = id
        $0.ping.clientTimeNs = Int64(clamping: time)
      }
    }
  }
}
