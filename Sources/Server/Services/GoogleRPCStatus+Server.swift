import GRPCCore
import GRPCProtobuf
import SidelightWire

extension GoogleRPCStatus {
  /// Who names the reasons of ours.
  static let errorDomain = "sidelight.v1"

  /// The server is shutting down: whoever asks another one, or this one a little later, may have luck.
  static var shuttingDown: GoogleRPCStatus {
    GoogleRPCStatus(
      code: .unavailable, message: "The server is shutting down.",
      details:
        .errorInfo(reason: "SHUTTING_DOWN", domain: Self.errorDomain, metadata: [:]),
      .retryInfo(delay: .seconds(1)))
  }

  /// A client has sent nothing but faults.
  ///
  /// - Parameters:
  ///   - limit: The faults in a row that are let pass.
  ///   - last: The fault that was one too many.
  static func tooManyFaults(limit: Int, last: FieldFault) -> GoogleRPCStatus {
    let last = last.clipped
    return GoogleRPCStatus(
      code: .invalidArgument,
      message: "More than \(limit) faults in a row; the last was \(last.field): \(last.reason)",
      details:
        .errorInfo(
          reason: "TOO_MANY_FAULTS", domain: Self.errorDomain,
          metadata: ["max_consecutive_errors": "\(limit)"]),
      .badRequest(violations: [.init(field: last.field, description: last.reason)]))
  }
}
