package import GRPCCore
package import GRPCProtobuf
package import SidelightKernels
import SwiftProtobuf

/// What is wrong with one field of a message: enough for a person to mend it without guessing.
package struct FieldFault: Error, Sendable, Hashable {
  /// The status code that fits.
  package var code: RPCError.Code
  /// The field's path from the message that was sent: `frame.image.planes[1].stride`.
  package var field: String
  /// What is wrong, with value and limit, in one sentence.
  package var reason: String

  package init(code: RPCError.Code = .invalidArgument, field: String, reason: String) {
    self.code = code
    self.field = field
    self.reason = reason
  }

  /// The same fault, seen from the message around.
  package func within(_ parent: String) -> FieldFault {
    FieldFault(code: self.code, field: "\(parent).\(self.field)", reason: self.reason)
  }

  /// The same fault, short enough to travel in a header, whatever it repeats of a message.
  package var clipped: FieldFault {
    FieldFault(
      code: self.code, field: self.field.clipped(toBytes: 256),
      reason: self.reason.clipped(toBytes: 640))
  }

  /// The fault with `google.rpc.BadRequest` details.
  package var status: GoogleRPCStatus {
    let (field, reason) = (self.clipped.field, self.clipped.reason)
    return GoogleRPCStatus(
      code: self.code, message: "\(field): \(reason)",
      details: .badRequest(violations: [.init(field: field, description: reason)]))
  }
}

extension FieldFault: RPCErrorConvertible {
  package var rpcErrorCode: RPCError.Code { self.status.rpcErrorCode }
  package var rpcErrorMessage: String { self.status.rpcErrorMessage }
  package var rpcErrorMetadata: Metadata { self.status.rpcErrorMetadata }
}

extension FieldFault {
  /// A fault that the catalogue found, as the wire names it.
  package init(_ error: PipelineError) {
    let hint = error.suggestion.map { "; did you mean \($0)?" } ?? ""
    self.init(field: error.path, reason: error.message + hint)
  }
}

extension Google_Rpc_Status {
  /// A status inside a message, for faults that do not end the call.
  package init(_ status: GoogleRPCStatus) {
    // Our own details always serialize; should one not, code and message still say the most.
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
