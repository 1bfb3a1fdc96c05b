import GRPCCore
import GRPCProtobuf
import SidelightKernelLanguage
import SidelightKernels
import SidelightWire
import SwiftProtobuf
import Testing

@Suite struct `The violation of a field` {
  static func info(_ violation: FieldViolation) -> ErrorDetails.ErrorInfo? {
    violation.status.details.compactMap(\.errorInfo).first
  }

  @Test func `without parts for programs has BadRequest alone`() {
    let violation = FieldViolation(field: "kind", reason: "is not set").within("select")
    #expect(violation.status.message == "select.kind: is not set")
    #expect(violation.status.details.count == 1)
    let named = violation.status.details.first?.badRequest?.violations
    #expect(named?.map(\.field) == ["select.kind"])
    #expect(Self.info(violation) == nil)
  }

  @Test func `keeps its parts in enclosing messages`() throws {
    let violation = FieldViolation(
      code: .resourceExhausted, field: "size", reason: "is 9, the limit is 8",
      info: .outOfRange(9, limit: 8)
    ).within("image").within("frame")
    #expect(violation.status.code == .resourceExhausted)
    let info = try #require(Self.info(violation))
    #expect(info.domain == "sidelight.v1")
    #expect(info.reason == "OUT_OF_RANGE")
    #expect(info.metadata == ["field": "frame.image.size", "value": "9", "limit": "8"])
    #expect(Google_Rpc_Status(violation.status).errorMetadata == info.metadata)
  }

  @Test(
    arguments: [
      (.unknownFilter, "UNKNOWN_FILTER"), (.duplicateStageID, "DUPLICATE_STAGE_ID"),
      (.tooDeep, "TOO_DEEP"), (.outOfLimits, "OUT_OF_LIMITS"), (.wrongType, "WRONG_TYPE"),
    ] as [(PipelineError.Code, String)])
  func `of a pipeline has a reason by its code`(code: PipelineError.Code, reason: String) {
    let violation = FieldViolation(
      PipelineError(
        code: code, path: "stages[0]", message: "is wrong", suggestion: "right", value: "wrong"))
    let info = Self.info(violation)
    #expect(info?.reason == reason)
    #expect(
      info?.metadata == ["field": "stages[0]", "value": "wrong", "suggestion": "right"])
  }

  @Test func `of a text has its position`() throws {
    let text = "\"né👩‍👩‍👧\": sepiaTone,\r\n\t[vignette("
    let error = try #require(throws: FieldViolation.self) { try RequestedPipeline(text: text) }
    #expect(error.field == "pipeline_text")
    let metadata = try #require(Self.info(error)).metadata
    #expect(metadata["line"] == "2")
    #expect(metadata["column"] == "12")
    #expect(metadata["utf8_offset"] == "\(text.utf8.count)")
  }

  /// Clients refuse headers of more than 8 KiB; `grpc-message` encodes a byte as three characters,
  /// and `grpc-status-details-bin` three bytes as four.
  @Test(arguments: ["x", "é", "👩‍👩‍👧", "e" + String(repeating: "\u{301}", count: 40)])
  func `fits into headers, whatever it repeats`(character: String) throws {
    let long = String(repeating: character, count: 5000)
    let violation = FieldViolation(
      field: long, reason: long,
      info: .init(
        value: long, limit: long, suggestion: long,
        position: .init(line: .max, column: .max, utf8Offset: .max)))
    let details: [UInt8] = try violation.status.serializedBytes()
    let bytes = 3 * violation.status.message.utf8.count + (details.count + 2) / 3 * 4
    #expect(bytes < 7500)
  }
}

@Suite struct `A requested pipeline` {
  @Test func `is the same as text and as a message`() throws {
    let text = "look: sepiaTone(intensity: 0.5), [colorInvert @mix(0.5)]"
    let fromText = try RequestedPipeline(text: text)
    let fromMessage = try RequestedPipeline(Sidelight_V1_Pipeline(Pipeline(text: text)))
    #expect(fromText.pipeline == fromMessage.pipeline)
    #expect(fromText.field == "pipeline_text")
    #expect(fromMessage.field == "pipeline")
  }

  @Test func `locates errors of the catalogue in the form that the client used`() throws {
    let text = "sepiaTone, gausianBlur"
    let catalogue = FilterCatalogue.builtIn
    let inText = try #require(throws: FieldViolation.self) {
      try RequestedPipeline(text: text, field: "text").resolved(in: catalogue)
    }
    #expect(inText.field == "text")
    #expect(inText.info?.position == .init(line: 1, column: 12, utf8Offset: 11))
    #expect(inText.info?.suggestion == "gaussianBlur")
    let inMessage = try #require(throws: FieldViolation.self) {
      try RequestedPipeline(Sidelight_V1_Pipeline(Pipeline(text: text))).resolved(in: catalogue)
    }
    #expect(inMessage.field == "pipeline.stages[1].filter.name")
    #expect(inMessage.info?.position == nil)
    #expect(inMessage.info?.suggestion == "gaussianBlur")
  }

  @Test func `is limited as a message, also if it was a short text`() throws {
    // A colour takes 7 bytes in a text, and four numbers of 8 bytes in a message.
    let names = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    let colors = names.map { "\($0):#123456" }
    let stages = Array(repeating: "f(\(colors.joined(separator: ",")))", count: 31)
    let text = stages.joined(separator: ",")
    #expect(text.utf8.count <= ContractLimits.maxPipelineTextBytes)
    let error = try #require(throws: FieldViolation.self) { try RequestedPipeline(text: text) }
    #expect(error.field == "pipeline_text")
    #expect(error.info?.limit == "\(ContractLimits.maxPipelineBytes)")
  }

  @Test func `is empty if a request has none`() throws {
    #expect(try RequestedPipeline(Sidelight_V1_Open()).pipeline == [])
    #expect(try RequestedPipeline(Sidelight_V1_Select()).pipeline == [])
    #expect(try RequestedPipeline(Sidelight_V1_ApplyRequest()).pipeline == [])
    let check = try #require(throws: FieldViolation.self) {
      try RequestedPipeline(Sidelight_V1_CheckPipelineRequest().source)
    }
    #expect(check.field == "source")
  }
}
