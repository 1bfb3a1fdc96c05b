import GRPCCore
package import SidelightKernels
package import SwiftProtobuf

/// The contract's limits on names, texts, lists and pipelines: the values of the fixed fields of
/// `Limits`. ``SidelightKernels/Pipeline`` has the limits on the parts of a pipeline.
///
/// Together they bound all data of a client that the server keeps, logs or returns.
package enum ContractLimits {
  /// The maximum size of a pipeline as a serialized message, in bytes. 64 stages of the largest
  /// built-in filters, with regions and IDs of maximum length, use about half of it.
  package static let maxPipelineBytes = 64 << 10
  /// The maximum length of a pipeline as text, in bytes.
  package static let maxPipelineTextBytes = PipelineText.maxLength
  /// The maximum length of a session's label, in bytes.
  package static let maxLabelBytes = 128
  /// The maximum length of a participant's name, in bytes.
  package static let maxParticipantBytes = 128
  /// The maximum number of filters that a session may be limited to.
  package static let maxAllowedFilters = 256
  /// The maximum number of named outputs of a session.
  package static let maxOutputs = 4
  /// The maximum number of sources of a composition.
  package static let maxSources = 16
  /// The maximum number of tags of a frame.
  package static let maxTags = 16
  /// The maximum length of all keys and values of a frame's tags, in bytes.
  package static let maxTagBytes = 1024
  /// The maximum length of the reason of an override, in bytes.
  package static let maxReasonBytes = 256
  /// The maximum size of a resume token in bytes: the pipelines of the participant and of an
  /// operator, and other contents of less than 1 KiB.
  package static let maxResumeTokenBytes = 2 * Self.maxPipelineBytes + 1024
  /// The maximum length of the parts of a frame's trace context, in bytes: the length that W3C
  /// requires every system to propagate. Longer ones are ignored.
  package static let maxTraceContextBytes = 512

  /// The maximum length of the names of filters in an error, in bytes.
  package static let maxErrorFilterNameBytes = 256
  /// The maximum length of a custom filter's error that the server repeats to clients, in bytes.
  /// Longer texts are clipped.
  package static let maxFilterErrorBytes = 512

  /// The number of units of control messages handled per session and second.
  package static let controlUnitsPerSecond = 4000
  /// The size of control messages handled per session and second, in bytes.
  package static let controlBytesPerSecond = 1 << 20

  /// The maximum number of sessions in one response.
  package static let maxPageSize = 1000
  /// The default number of sessions in one response.
  package static let defaultPageSize = 100
  /// The maximum length of a pipeline's text in a list of sessions, in bytes.
  package static let maxListedPipelineBytes = 2048
  /// The maximum length of a caller's name in a list of sessions, in bytes.
  package static let maxListedPeerBytes = 512

  /// The maximum difference in size between the response of `CheckPipeline` and its request, in
  /// bytes.
  package static let maxCheckGrowthBytes = 64 << 10
  /// The maximum length of a pass's description in the response of `CheckPipeline`, in bytes.
  package static let maxPassDescriptionBytes = 512

  /// Checks the length of text.
  ///
  /// - Throws: ``FieldViolation`` with the field, its length and the limit.
  package static func check(
    _ text: String, atMost limit: Int, field: String
  ) throws(FieldViolation) {
    try self.check(byteCount: text.utf8.count, atMost: limit, field: field)
  }

  /// Checks a number of bytes.
  package static func check(
    byteCount: Int, atMost limit: Int, field: String
  ) throws(FieldViolation) {
    guard byteCount <= limit else {
      throw FieldViolation(
        field: field, reason: "has \(byteCount) bytes; the limit is \(limit)",
        info: .outOfRange(byteCount, limit: limit))
    }
  }

  /// Checks a number.
  package static func check(
    _ number: UInt32, atMost limit: Int, field: String
  ) throws(FieldViolation) {
    guard number <= limit else {
      throw FieldViolation(
        field: field, reason: "is \(number), the limit is \(limit)",
        info: .outOfRange(number, limit: limit))
    }
  }

  /// Checks the number of entries of a list or map.
  ///
  /// - Throws: ``FieldViolation`` with the field, its length and the limit.
  package static func check(count: Int, atMost limit: Int, field: String) throws(FieldViolation) {
    guard count <= limit else {
      throw FieldViolation(
        field: field, reason: "has \(count) entries; the limit is \(limit)",
        info: .outOfRange(count, limit: limit))
    }
  }
}

extension Pipeline {
  /// Checks the size of the pipeline as a message, which is its form in a resume token.
  ///
  /// - Throws: ``FieldViolation`` with a field relative to the pipeline.
  package func checkByteCount() throws(FieldViolation) {
    let count = Sidelight_V1_Pipeline(self).byteCount
    guard count <= ContractLimits.maxPipelineBytes else {
      throw FieldViolation(
        field: "stages",
        reason: "take \(count) bytes in all; the limit is \(ContractLimits.maxPipelineBytes)",
        info: .outOfRange(count, limit: ContractLimits.maxPipelineBytes))
    }
  }
}

extension Message {
  /// The size of the serialized message in bytes.
  package var byteCount: Int {
    // A message without required fields can always be serialized.
    (try? self.serializedBytes() as [UInt8])?.count ?? .max
  }
}

extension Sidelight_V1_Limits {
  /// Sets the limits that are the same on all servers.
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
    self.maxParticipantBytes = UInt32(ContractLimits.maxParticipantBytes)
    self.maxAllowedFilters = UInt32(ContractLimits.maxAllowedFilters)
    self.maxOutputs = UInt32(ContractLimits.maxOutputs)
    self.maxSources = UInt32(ContractLimits.maxSources)
    self.maxTags = UInt32(ContractLimits.maxTags)
    self.maxTagBytes = UInt32(ContractLimits.maxTagBytes)
    self.maxReasonBytes = UInt32(ContractLimits.maxReasonBytes)
    self.maxResumeTokenBytes = UInt32(ContractLimits.maxResumeTokenBytes)
    self.maxPageSize = UInt32(ContractLimits.maxPageSize)
    self.controlUnitsPerSecond = UInt32(ContractLimits.controlUnitsPerSecond)
    self.controlBytesPerSecond = UInt32(ContractLimits.controlBytesPerSecond)
    self.maxTransitionDuration = Google_Protobuf_Duration(
      rounding: PipelineTransition.maxDuration)
  }
}

/// The maximum size of a frame.
package struct FrameLimits: Sendable, Hashable {
  /// The maximum width and height in pixels.
  package var maxDimension: Int
  /// The maximum number of pixels.
  package var maxPixels: Int
  /// The maximum size of the samples in bytes.
  package var maxBytes: Int

  package init(maxDimension: Int, maxPixels: Int, maxBytes: Int = .max) {
    self.maxDimension = maxDimension
    self.maxPixels = maxPixels
    self.maxBytes = maxBytes
  }

  /// Checks the output of a pipeline, which may scale frames.
  ///
  /// - Parameter field: The field to report, which produces the output.
  package func check(
    output: FrameGeometry, field: String = "pipeline"
  ) throws(FieldViolation) {
    let size = output.size
    guard max(size.width, size.height) <= self.maxDimension, size.pixelCount <= self.maxPixels
    else {
      throw FieldViolation(
        code: .resourceExhausted, field: field,
        reason: "produces frames of \(size), the limits are \(self.maxDimension) pixels a side and "
          + "\(self.maxPixels) in all",
        info: .outOfRange(
          "\(size)", limit: "\(self.maxDimension) a side, \(self.maxPixels) in all"))
    }
    let byteCount = (0 ..< output.format.planeCount).reduce(0) { sum, plane in
      sum + output.format.rowByteCount(plane: plane, width: size.width)
        * output.format.rowCount(plane: plane, height: size.height)
    }
    guard byteCount <= self.maxBytes else {
      throw FieldViolation(
        code: .resourceExhausted, field: field,
        reason: "produces frames of \(byteCount) bytes, the limit is \(self.maxBytes)",
        info: .outOfRange(byteCount, limit: self.maxBytes))
    }
  }

  /// Checks a size before memory is allocated for it.
  package func check(width: UInt32, height: UInt32) throws(FieldViolation) -> FrameSize {
    try self.check(dimension: width, field: "width")
    try self.check(dimension: height, field: "height")
    let size = FrameSize(width: Int(width), height: Int(height))
    try self.checkPixelCount(of: size)
    return size
  }

  /// Checks the number of pixels of a size whose sides are checked.
  package func checkPixelCount(of size: FrameSize) throws(FieldViolation) {
    guard size.pixelCount <= self.maxPixels else {
      throw FieldViolation(
        field: "width",
        reason: "\(size) is \(size.pixelCount) pixels, the limit is \(self.maxPixels)",
        info: .outOfRange(size.pixelCount, limit: self.maxPixels))
    }
  }

  private func check(dimension value: UInt32, field: String) throws(FieldViolation) {
    guard value >= 1 else {
      throw FieldViolation(
        field: field, reason: "is 0",
        info: .outOfRange(value, limit: "1 ... \(self.maxDimension)"))
    }
    guard value <= UInt32(self.maxDimension) else {
      throw FieldViolation(
        field: field, reason: "is \(value), the limit is \(self.maxDimension)",
        info: .outOfRange(value, limit: "1 ... \(self.maxDimension)"))
    }
  }
}

extension FrameLimits {
  /// The limits of ``Frame`` only, for receivers of frames that they requested.
  package static let unlimited = FrameLimits(
    maxDimension: FrameLayout.maxDimension,
    maxPixels: FrameLayout.maxDimension * FrameLayout.maxDimension)
}

/// The rules for names that operators see: of participants, for whom a caller vouches, and of
/// outputs.
package enum ParticipantName {
  /// Checks a name. The empty name is the caller itself.
  ///
  /// Names are shown to operators and logged. Characters that a terminal or a page does not show
  /// are refused.
  ///
  /// - Parameter field: The field of the request that has the name.
  /// - Throws: ``FieldViolation`` with the length and the limit, or with the character.
  package static func check(_ name: String, field: String) throws(FieldViolation) {
    try ContractLimits.check(name, atMost: ContractLimits.maxParticipantBytes, field: field)
    try self.checkCharacters(of: name, field: field)
  }

  /// Checks that all characters are printable.
  ///
  /// - Throws: ``FieldViolation`` with the first other character.
  package static func checkCharacters(of name: String, field: String) throws(FieldViolation) {
    guard let scalar = name.unicodeScalars.first(where: { !Self.isPrintable($0) }) else { return }
    let digits = String(scalar.value, radix: 16, uppercase: true)
    let code = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    throw FieldViolation(
      field: field,
      reason: "contains the character U+\(code), which is not printable; leave it out",
      info: .init(value: "U+\(code)"))
  }

  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }
}

/// The call or room whose sessions belong to one server.
package enum SessionGroup {
  /// The key of a call's metadata with its name. Proxies read it too.
  package static let metadataKey = "sidelight-group"

  /// Checks the length of a name.
  ///
  /// - Throws: ``FieldViolation`` with the field, the length and the limit.
  package static func check(_ name: String, field: String) throws(FieldViolation) {
    try ContractLimits.check(name, atMost: ContractLimits.maxLabelBytes, field: field)
  }
}
