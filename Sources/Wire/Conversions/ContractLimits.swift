package import SidelightKernels
package import SwiftProtobuf

/// The sizes that the contract allows for names, texts, lists and pipelines: the numbers behind the
/// fixed fields of `Limits`. ``SidelightKernels/Pipeline`` has those of the parts of a pipeline.
///
/// Whatever a client sends and the server keeps, logs or repeats is bounded by one of them.
package enum ContractLimits {
  /// The most bytes of a pipeline as a serialized message. 64 stages of the largest built-in
  /// filters, each with a region and an id of full length, take about half of it.
  package static let maxPipelineBytes = 64 << 10
  /// The most bytes of a pipeline as text.
  package static let maxPipelineTextBytes = PipelineText.maxLength
  /// The most bytes of a session's label.
  package static let maxLabelBytes = 128
  /// The most tags of a frame.
  package static let maxTags = 16
  /// The most bytes of a frame's tags, keys and values together.
  package static let maxTagBytes = 1024
  /// The most bytes of the reason of an override.
  package static let maxReasonBytes = 256
  /// The most bytes of a resume token: the participant's pipeline, an operator's, and what else a
  /// token holds, which is less than 1 KiB.
  package static let maxResumeTokenBytes = 2 * Self.maxPipelineBytes + 1024
  /// The most bytes of each part of a frame's trace context, as W3C requires everyone to carry. A
  /// longer one is ignored.
  package static let maxTraceContextBytes = 512

  /// The most bytes of the names of filters in an error.
  package static let maxErrorFilterNameBytes = 256
  /// The most bytes of a custom filter's error that the server repeats to clients. A longer text is
  /// clipped.
  package static let maxFilterErrorBytes = 512

  /// The units of control messages that a session handles per second.
  package static let controlUnitsPerSecond = 4000
  /// The bytes of control messages that a session handles per second.
  package static let controlBytesPerSecond = 1 << 20

  /// The most sessions of one response.
  package static let maxPageSize = 1000
  /// The sessions of one response where the request does not say.
  package static let defaultPageSize = 100
  /// The most bytes of a pipeline's text in a list of sessions.
  package static let maxListedPipelineBytes = 2048
  /// The most bytes of a caller's name in a list of sessions.
  package static let maxListedPeerBytes = 512

  /// The most bytes by which the answer to `CheckPipeline` is larger than the request.
  package static let maxCheckGrowthBytes = 64 << 10
  /// The most bytes of a pass's description in the answer to `CheckPipeline`.
  package static let maxPassDescriptionBytes = 512

  /// Checks the length of a text.
  ///
  /// - Throws: ``FieldFault`` that names the field, its length and the limit.
  package static func check(
    _ text: String, atMost limit: Int, field: String
  ) throws(FieldFault) {
    let count = text.utf8.count
    guard count <= limit else {
      throw FieldFault(field: field, reason: "has \(count) bytes; the limit is \(limit)")
    }
  }

  /// Checks the number of entries of a list or map.
  ///
  /// - Throws: ``FieldFault`` that names the field, its length and the limit.
  package static func check(count: Int, atMost limit: Int, field: String) throws(FieldFault) {
    guard count <= limit else {
      throw FieldFault(field: field, reason: "has \(count) entries; the limit is \(limit)")
    }
  }
}

extension Pipeline {
  /// Checks the pipeline's size as a message. A resume token holds the pipeline in that form.
  ///
  /// - Throws: ``FieldFault`` relative to the pipeline.
  package func checkByteCount() throws(FieldFault) {
    let count = Sidelight_V1_Pipeline(self).byteCount
    guard count <= ContractLimits.maxPipelineBytes else {
      throw FieldFault(
        field: "stages",
        reason: "take \(count) bytes in all; the limit is \(ContractLimits.maxPipelineBytes)")
    }
  }
}

extension Message {
  /// The bytes of the serialized message.
  package var byteCount: Int {
    // Messages without required fields always serialize.
    (try? self.serializedBytes() as [UInt8])?.count ?? .max
  }
}

extension Sidelight_V1_Limits {
  /// States the limits that are the same on every server.
  package mutating func addContractLimits() {
    self.maxStages = UInt32(Pipeline.maxStages)
    self.maxPipelineDepth = UInt32(Pipeline.maxDepth)
    self.maxStageIDBytes = UInt32(Pipeline.maxStageIDBytes)
    self.maxNameBytes = UInt32(Pipeline.maxNameBytes)
    self.maxTextBytes = UInt32(Pipeline.maxTextBytes)
    self.maxVectorValues = UInt32(Pipeline.maxVectorValues)
    self.maxParameters = UInt32(Pipeline.maxParameters)
    self.maxPipelineBytes = UInt32(ContractLimits.maxPipelineBytes)
    self.maxPipelineTextBytes = UInt32(ContractLimits.maxPipelineTextBytes)
    self.maxLabelBytes = UInt32(ContractLimits.maxLabelBytes)
    self.maxTags = UInt32(ContractLimits.maxTags)
    self.maxTagBytes = UInt32(ContractLimits.maxTagBytes)
    self.maxReasonBytes = UInt32(ContractLimits.maxReasonBytes)
    self.maxResumeTokenBytes = UInt32(ContractLimits.maxResumeTokenBytes)
    self.maxPageSize = UInt32(ContractLimits.maxPageSize)
    self.controlUnitsPerSecond = UInt32(ContractLimits.controlUnitsPerSecond)
    self.controlBytesPerSecond = UInt32(ContractLimits.controlBytesPerSecond)
  }
}
