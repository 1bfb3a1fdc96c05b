package import GRPCCore
package import GRPCProtobuf
package import SidelightKernels
import SwiftProtobuf

/// The violation of a rule by a field of a message.
package struct FieldViolation: Error, Sendable, Hashable {
  /// The status code.
  package var code: RPCError.Code
  /// The path of the field in the received message: `frame.image.planes[1].stride`.
  package var field: String
  /// The reason with the value and the limit: a clause with the field as its subject.
  package var reason: String

  package init(code: RPCError.Code = .invalidArgument, field: String, reason: String) {
    self.code = code
    self.field = field
    self.reason = reason
  }

  /// Returns the violation with a path from the enclosing message.
  package func within(_ parent: String) -> FieldViolation {
    FieldViolation(code: self.code, field: "\(parent).\(self.field)", reason: self.reason)
  }

  /// The violation, truncated to a length that fits into a header.
  package var clipped: FieldViolation {
    FieldViolation(
      code: self.code, field: self.field.clipped(toBytes: 256),
      reason: self.reason.clipped(toBytes: 640))
  }

  /// The status with `google.rpc.BadRequest` details.
  package var status: GoogleRPCStatus {
    let (field, reason) = (self.clipped.field, self.clipped.reason)
    return GoogleRPCStatus(
      code: self.code, message: "\(field): \(reason)",
      details: .badRequest(violations: [.init(field: field, description: reason)]))
  }
}

extension FieldViolation: RPCErrorConvertible {
  package var rpcErrorCode: RPCError.Code { self.status.rpcErrorCode }
  package var rpcErrorMessage: String { self.status.rpcErrorMessage }
  package var rpcErrorMetadata: Metadata { self.status.rpcErrorMetadata }
}

extension FieldViolation {
  /// Creates the violation of an error that the catalogue found.
  package init(_ error: PipelineError) {
    let hint = error.suggestion.map { "; did you mean \($0)?" } ?? ""
    self.init(code: error.statusCode, field: error.path, reason: error.message + hint)
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

extension Google_Rpc_Status {
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
