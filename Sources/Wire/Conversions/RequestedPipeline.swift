package import SidelightKernels

/// A pipeline sent by a client as a message or as text. Both forms have the same limits.
///
/// Errors refer to the form that the client used: to a path in the message, or to a character of
/// the text.
package struct RequestedPipeline: Sendable {
  /// The pipeline. Its structure and sizes are checked; the catalogue checks its filters.
  package let pipeline: Pipeline
  /// The field of the request: `pipeline`, or the text's field.
  package let field: String
  /// The text with the locations of its parts. `nil` if the client sent a message.
  private let text: PipelineText?

  /// Reads a message.
  ///
  /// - Throws: ``FieldViolation`` with a field that begins with `pipeline`.
  package init(_ message: Sidelight_V1_Pipeline) throws(FieldViolation) {
    self.pipeline = try FieldViolation.within("pipeline") { () throws(FieldViolation) in
      try Pipeline(message)
    }
    self.field = "pipeline"
    self.text = nil
  }

  /// Parses text.
  ///
  /// - Parameter field: The field of the request.
  /// - Throws: ``FieldViolation`` with the position of the error.
  package init(text: String, field: String = "pipeline_text") throws(FieldViolation) {
    do throws(PipelineTextError) {
      let parsed = try PipelineText(text)
      try parsed.resolve { pipeline throws(PipelineError) in try pipeline.checkSizes() }
      self.text = parsed
      self.pipeline = parsed.pipeline
    } catch {
      throw FieldViolation(error, field: field)
    }
    self.field = field
    // Resume tokens and lists contain the pipeline as a message.
    do throws(FieldViolation) {
      try self.pipeline.checkByteCount()
    } catch {
      throw FieldViolation(
        field: field, reason: "\(error.field) \(error.reason)", info: error.info)
    }
  }

  /// Looks up the pipeline's filters.
  ///
  /// - Throws: As ``violation(of:)`` returns.
  package func resolved(
    in catalogue: FilterCatalogue
  ) throws(FieldViolation) -> ResolvedPipeline {
    do throws(PipelineError) {
      return try catalogue.resolve(self.pipeline)
    } catch {
      throw self.violation(of: error)
    }
  }

  /// Returns the violation of an error in ``pipeline``, with a field relative to the request.
  package func violation(of error: PipelineError) -> FieldViolation {
    if let text { return FieldViolation(text.locate(error), field: self.field) }
    return FieldViolation(error).within(self.field)
  }
}

// MARK: Requests

/// A message with an optional pipeline, as a message or as text. The empty text is the empty
/// pipeline.
package protocol PipelineRequest {
  var pipeline: Sidelight_V1_Pipeline { get }
  var pipelineText: String { get }
}

extension Sidelight_V1_Open: PipelineRequest {}
extension Sidelight_V1_Output: PipelineRequest {}
extension Sidelight_V1_Select: PipelineRequest {}
extension Sidelight_V1_ApplyRequest: PipelineRequest {}

extension RequestedPipeline {
  /// Reads the pipeline of a request, by default the empty pipeline.
  package init(_ request: some PipelineRequest) throws(FieldViolation) {
    if request.pipelineText.isEmpty {
      try self.init(request.pipeline)
    } else {
      try self.init(text: request.pipelineText)
    }
  }

  /// Reads the pipeline of a request to force one.
  package init(
    _ source: Sidelight_V1_OverrideSessionRequest.OneOf_PipelineSource
  ) throws(FieldViolation) {
    switch source {
    case .pipeline(let message): try self.init(message)
    case .pipelineText(let text): try self.init(text: text)
    }
  }

  /// Reads the pipeline of a request to check one.
  ///
  /// - Throws: ``FieldViolation`` that names `source` if it is missing.
  package init(
    _ source: Sidelight_V1_CheckPipelineRequest.OneOf_Source?
  ) throws(FieldViolation) {
    switch source {
    case .pipeline(let message)?: try self.init(message)
    case .text(let text)?: try self.init(text: text, field: "text")
    case nil: throw FieldViolation(field: "source", reason: "neither pipeline nor text is set")
    }
  }
}

/// The parts of frames hidden by the filters of a pipeline.
///
/// The client knows filters by name only, so their names are listed here. A filter that protects is
/// added to ``filters``.
package struct PipelineProtection: OptionSet, Sendable, Hashable {
  package let rawValue: Int

  package init(rawValue: Int) {
    self.rawValue = rawValue
  }

  /// Faces are covered.
  package static let faces = PipelineProtection(rawValue: 1)
  /// The background is replaced or blurred.
  package static let background = PipelineProtection(rawValue: 2)

  /// All parts that a pipeline can hide.
  package static let all: PipelineProtection = [.faces, .background]

  /// The filters that protect, by name. Filters of the background do not if their
  /// parameter ``optOut`` is false.
  private static let filters: [String: PipelineProtection] = [
    "faceBlur": .faces, "facePixellate": .faces, "virtualBackground": .background,
    "backgroundBlur": .background,
  ]
  /// The parameter that ends the protection of the background.
  private static let optOut = "protect"

  /// The protection of a call of a filter. A value of another kind than a flag does not end it.
  fileprivate init(_ call: FilterCall) {
    let protection = Self.filters[Spelling.canonicalFilter(call.name)] ?? []
    let values = call.parameters.filter { Spelling.canonicalParameter($0.key) == Self.optOut }
    let isOff = !values.isEmpty && values.values.allSatisfy { $0 == .flag(false) }
    self = isOff ? protection.subtracting(.background) : protection
  }
}

extension Pipeline {
  /// The parts of frames hidden by the active stages, including stages of nested pipelines.
  package var protection: PipelineProtection {
    self.stages.filter(\.isActive).reduce(into: []) { protection, stage in
      switch stage.content {
      case .filter(let call): protection.formUnion(PipelineProtection(call))
      case .pipeline(let pipeline): protection.formUnion(pipeline.protection)
      }
    }
  }
}
