import GRPCProtobuf
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// What a reader does with changes of the selection.
extension SessionReader {
  /// The client wants another pipeline.
  mutating func receive(_ select: Sidelight_V1_Select) throws {
    try self.change(
      "select", ifRevision: select.hasIfRevision ? select.ifRevision : nil,
      requestID: select.requestID
    ) { pipeline throws(FieldFault) in
      do throws(FieldFault) {
        pipeline = try Pipeline(select.pipeline)
      } catch {
        throw error.within("pipeline")
      }
    }
  }

  /// The client changes parameters of stages.
  mutating func receive(_ update: Sidelight_V1_Update) throws {
    try self.change(
      "update", ifRevision: update.hasIfRevision ? update.ifRevision : nil,
      requestID: update.requestID
    ) { pipeline throws(FieldFault) in
      try ContractLimits.check(
        count: update.stages.count, atMost: Pipeline.maxStages, field: "stages")
      for (index, stage) in update.stages.enumerated() {
        do throws(FieldFault) {
          try pipeline.apply(stage)
        } catch {
          throw error.within("stages[\(index)]")
        }
      }
    }
  }

  /// The client turns stages on and off.
  mutating func receive(_ activate: Sidelight_V1_Activate) throws {
    try self.change(
      "activate", ifRevision: activate.hasIfRevision ? activate.ifRevision : nil,
      requestID: activate.requestID
    ) { pipeline throws(FieldFault) in
      try ContractLimits.check(
        count: activate.stages.count, atMost: Pipeline.maxStages, field: "stages")
      for (name, isActive) in activate.stages {
        do throws(PipelineError) {
          try pipeline.setActive(isActive, stage: name)
        } catch {
          throw FieldFault(field: "stages[\"\(name.clipped(toBytes: 64))\"]", reason: "\(error)")
        }
      }
    }
  }

  private mutating func change(
    _ kind: String, ifRevision revision: UInt64?, requestID: UInt64,
    _ body: (inout Pipeline) throws(FieldFault) -> Void
  ) throws {
    do throws(FieldFault) {
      try self.handle.change(ifRevision: revision, requestID: requestID, body)
      self.consecutiveErrors = 0
    } catch {
      let fault = error.within(kind)
      self.outcomes.push(
        .message(
          .with {
            $0.error.requestID = requestID
            $0.error.status = Google_Rpc_Status(fault.status)
          }))
      try self.countError(fault)
    }
  }
}

extension Pipeline {
  /// Changes the parameters that a message names.
  fileprivate mutating func apply(
    _ update: Sidelight_V1_Update.StageParameters
  ) throws(FieldFault) {
    try ContractLimits.check(
      count: update.parameters.count, atMost: Self.maxParameters, field: "parameters")
    var parameters: [String: ParameterValue] = [:]
    for (name, value) in update.parameters {
      do throws(FieldFault) {
        parameters[name] = try ParameterValue(value)
      } catch {
        throw error.within("parameters[\"\(name.clipped(toBytes: 64))\"]")
      }
    }
    do throws(PipelineError) {
      try self.setParameters(parameters, stage: update.stage)
    } catch {
      throw FieldFault(error)
    }
  }
}
