package import GRPCCore
package import GRPCProtobuf
package import SidelightKernels
import SwiftProtobuf

/// The violation of a rule by a field of a message.
package struct FieldViolation: Error, Sendable, Hashable {
  /// The error's parts for programs, which the status contains as `google.rpc.ErrorInfo`.
  package struct Info: Sendable, Hashable {
    /// The domain of the reasons.
    package static let domain = "sidelight.v1"

    /// The kind of error, in upper case with underscores.
    package var reason: String
    /// The invalid value, if it is known and a short text.
    package var value: String?
    /// The limit, or the expected value, if any.
    package var limit: String?
    /// The nearest valid name, if any.
    package var suggestion: String?
    /// The position in the text of a pipeline or of a kernel, if the field is such a text.
    package var position: Position?

    package init(
      reason: String = "INVALID_VALUE", value: String? = nil, limit: String? = nil,
      suggestion: String? = nil, position: Position? = nil
    ) {
      self.reason = reason
      self.value = value
      self.limit = limit
      self.suggestion = suggestion
      self.position = position
    }

    /// Describes a value that is outside its range.
    package static func outOfRange(
      _ value: some CustomStringConvertible, limit: some CustomStringConvertible
    ) -> Info {
      Info(reason: "OUT_OF_RANGE", value: "\(value)", limit: "\(limit)")
    }

    /// Describes a name that is not known.
    package static func unknown(_ value: String, suggestion: String? = nil) -> Info {
      Info(reason: "UNKNOWN_NAME", value: value, suggestion: suggestion)
    }
  }

  /// A character of a text.
  package struct Position: Sendable, Hashable {
    /// The line, from 1.
    package var line: Int
    /// The character in the line, from 1.
    package var column: Int
    /// The offset in bytes of UTF-8, from 0.
    package var utf8Offset: Int

    package init(line: Int, column: Int, utf8Offset: Int) {
      self.line = line
      self.column = column
      self.utf8Offset = utf8Offset
    }

    fileprivate init(_ position: TextPosition) {
      self.init(
        line: position.line, column: position.column, utf8Offset: position.utf8Offset)
    }
  }

  /// The status code.
  package var code: RPCError.Code
  /// The path of the field in the received message: `frame.image.planes[1].stride`.
  package var field: String
  /// The reason with the value and the limit: a clause with the field as its subject.
  package var reason: String
  /// The parts for programs, if known.
  package var info: Info?

  package init(
    code: RPCError.Code = .invalidArgument, field: String, reason: String, info: Info? = nil
  ) {
    self.code = code
    self.field = field
    self.reason = reason
    self.info = info
  }

  /// Returns the violation with a path from the enclosing message.
  package func within(_ parent: String) -> FieldViolation {
    var violation = self
    violation.field = "\(parent).\(self.field)"
    return violation
  }

  /// Reads a part of a message. Violations get the path from the enclosing message.
  package static func within<Result>(
    _ parent: @autoclosure () -> String, _ body: () throws(FieldViolation) -> Result
  ) throws(FieldViolation) -> Result {
    do throws(FieldViolation) { return try body() } catch { throw error.within(parent()) }
  }

  /// The violation, truncated to a length that fits into a header.
  package var clipped: FieldViolation {
    FieldViolation(
      code: self.code, field: self.field.clipped(toBytes: 256),
      reason: self.reason.clipped(toBytes: 640), info: self.info?.clipped)
  }

  /// The status with `google.rpc.BadRequest` details, and `google.rpc.ErrorInfo` if the violation
  /// has parts for programs.
  package var status: GoogleRPCStatus {
    let violation = self.clipped
    let (field, reason) = (violation.field, violation.reason)
    var details = [
      ErrorDetails.badRequest(violations: [.init(field: field, description: reason)])
    ]
    if let info = violation.info { details.append(info.details(of: field)) }
    return GoogleRPCStatus(code: self.code, message: "\(field): \(reason)", details: details)
  }
}

extension FieldViolation.Info {
  /// The parts, truncated to lengths that fit into a header together with the violation.
  fileprivate var clipped: Self {
    var info = self
    info.value = self.value?.clipped(toBytes: 128)
    info.limit = self.limit?.clipped(toBytes: 256)
    info.suggestion = self.suggestion?.clipped(toBytes: 128)
    return info
  }

  /// Returns the detail of a status.
  ///
  /// - Parameter field: The path of the field.
  package func details(of field: String) -> ErrorDetails {
    var metadata = ["field": field]
    metadata["value"] = self.value
    metadata["limit"] = self.limit
    metadata["suggestion"] = self.suggestion
    if let position = self.position {
      metadata["line"] = "\(position.line)"
      metadata["column"] = "\(position.column)"
      metadata["utf8_offset"] = "\(position.utf8Offset)"
    }
    return .errorInfo(reason: self.reason, domain: Self.domain, metadata: metadata)
  }
}

extension FieldViolation {
  /// Creates the violation that a server reports, or `nil` for other errors.
  package init?(_ error: RPCError) {
    guard let details = try? error.unpackGoogleRPCStatus()?.details,
      let violation = details.compactMap({ $0.badRequest?.violations.first }).first
    else { return nil }
    self.init(
      code: error.code, field: violation.field, reason: violation.violationDescription,
      info: details.compactMap(\.errorInfo).first.map(Info.init))
  }

  /// The error of the pipeline that the message contains, or `nil` for violations of other fields.
  package var pipelineError: PipelineError? {
    guard let start = self.field.firstRange(of: "stages[")?.lowerBound else { return nil }
    return PipelineError(
      code: self.info.flatMap { PipelineError.Code(reason: $0.reason) } ?? .invalidStage,
      path: String(self.field[start...]), message: self.reason, value: self.info?.value,
      limit: self.info?.limit,
      position: self.info?.position.map {
        TextPosition(line: $0.line, column: $0.column, utf8Offset: $0.utf8Offset)
      })
  }
}

extension FieldViolation.Info {
  fileprivate init(_ details: ErrorDetails.ErrorInfo) {
    let metadata = details.metadata
    self.init(
      reason: details.reason, value: metadata["value"], limit: metadata["limit"],
      suggestion: metadata["suggestion"])
    if let line = metadata["line"].flatMap(Int.init),
      let column = metadata["column"].flatMap(Int.init),
      let offset = metadata["utf8_offset"].flatMap(Int.init)
    {
      self.position = .init(line: line, column: column, utf8Offset: offset)
    }
  }
}

extension FieldViolation: RPCErrorConvertible {
  package var rpcErrorCode: RPCError.Code { self.status.rpcErrorCode }
  package var rpcErrorMessage: String { self.status.rpcErrorMessage }
  package var rpcErrorMetadata: Metadata { self.status.rpcErrorMetadata }
}

// MARK: Pipelines

extension FieldViolation {
  /// Creates the violation of an error that the catalogue found.
  package init(_ error: PipelineError) {
    let hint = error.suggestion.map { "; did you mean \($0)?" } ?? ""
    self.init(
      code: error.statusCode, field: error.path, reason: error.message + hint,
      info: Info(
        reason: error.code.reason, value: error.value, limit: error.limit,
        suggestion: error.suggestion, position: error.position.map(Position.init)))
  }

  /// Creates the violation of an error in a pipeline's text.
  package init(_ error: PipelineTextError, field: String) {
    self.init(
      code: error.cause?.statusCode ?? .invalidArgument, field: field, reason: "\(error)",
      info: Info(
        reason: error.cause?.code.reason ?? "INVALID_PIPELINE_TEXT", value: error.value,
        limit: error.limit, suggestion: error.suggestion,
        position: Position(
          line: error.line, column: error.column, utf8Offset: error.utf8Offset)))
  }
}

extension PipelineError {
  /// The status code: FAILED_PRECONDITION if another server may accept the pipeline,
  /// PERMISSION_DENIED if another caller may use it.
  package var statusCode: RPCError.Code {
    switch self.code {
    case .unavailableFilter: .failedPrecondition
    case .notPermitted: .permissionDenied
    default: .invalidArgument
    }
  }
}

extension PipelineError.Code {
  /// Finds the code of a reason, or `nil` for a reason of other errors.
  fileprivate init?(reason: String) {
    guard let code = Self.allCases.first(where: { $0.reason == reason }) else { return nil }
    self = code
  }

  /// The code as the reason of `google.rpc.ErrorInfo`: `UNKNOWN_FILTER`.
  fileprivate var reason: String {
    var reason = ""
    var followsLowercase = false
    for letter in self.rawValue {
      if letter.isUppercase, followsLowercase { reason += "_" }
      reason += letter.uppercased()
      followsLowercase = letter.isLowercase
    }
    return reason
  }
}

extension Google_Rpc_Status {
  /// The metadata of the status's `google.rpc.ErrorInfo`, empty without one.
  package var errorMetadata: [String: String] {
    guard let bytes: [UInt8] = try? self.serializedBytes(),
      let status = try? GoogleRPCStatus(serializedBytes: bytes)
    else { return [:] }
    return status.details.compactMap(\.errorInfo).first?.metadata ?? [:]
  }

  /// Creates a status within a message, for errors that do not end the call.
  package init(_ status: GoogleRPCStatus) {
    // The server's own details can always be serialized; without them, code and message suffice.
    let bytes: [UInt8]? = try? status.serializedBytes()
    if let bytes, let whole = try? Google_Rpc_Status(serializedBytes: bytes) {
      self = whole
    } else {
      self.init()
      self.code = Int32(status.code.rawValue)
      self.message = status.message
    }
  }
}
