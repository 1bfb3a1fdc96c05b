import GRPCCore
import GRPCProtobuf
import SidelightKernels

/// The refusal of a request for an asset: a reason for programs; the field, its value and its limit
/// for users.
struct AssetError: Error, Sendable, Hashable {
  /// The reason in `google.rpc.ErrorInfo`.
  enum Reason: String, Sendable, Hashable {
    /// A message of the upload is out of order.
    case order = "ASSET_UPLOAD_ORDER"
    case name = "ASSET_NAME_INVALID"
    /// The server provides an asset with this name.
    case nameTaken = "ASSET_NAME_TAKEN"
    /// The file or its picture exceeds a limit.
    case tooLarge = "ASSET_TOO_LARGE"
    /// The length of the file differs from the header.
    case length = "ASSET_LENGTH_MISMATCH"
    /// The digest of the file differs from the header.
    case digest = "ASSET_DIGEST_MISMATCH"
    /// The file is neither a valid picture nor a valid table.
    case unreadable = "ASSET_UNREADABLE"
    /// The file is an invalid kernel.
    case kernel = "ASSET_KERNEL_INVALID"
    /// The request would exceed a limit of the caller, or of all callers together.
    case quota = "ASSET_QUOTA_EXCEEDED"
    /// The upload took too long.
    case timeout = "ASSET_UPLOAD_TIMEOUT"
    /// The caller doesn't have an asset with this name.
    case notFound = "ASSET_NOT_FOUND"
  }

  let reason: Reason
  /// The field of the request, or the limit's name.
  let field: String
  /// The error with value and limit, as the continuation of the field's name.
  let description: String
  /// The invalid value, if any.
  var value: String?
  /// The limit or the expected value, if any.
  var limit: String?
  /// The owner of the limit, if it is a quota.
  var subject: String?
  /// The nearest valid name, if any.
  var suggestion: String?
  /// The position in the file, if it is a kernel.
  var position: TextPosition?
}

extension AssetError {
  /// Reports that a quota would be exceeded.
  ///
  /// - Parameters:
  ///   - subject: The owner of the quota: the caller's name, or `server`.
  ///   - name: The limit's name on the wire.
  ///   - value: The value that the request would lead to.
  static func quota(of subject: String, _ name: String, value: Int, limit: Int) -> AssetError {
    AssetError(
      reason: .quota, field: name,
      description: "would be \(value) for \(subject), the limit is \(limit)",
      value: "\(value)", limit: "\(limit)", subject: subject)
  }

  private var code: RPCError.Code {
    switch self.reason {
    case .order: .failedPrecondition
    case .name, .tooLarge, .length, .digest, .unreadable, .kernel: .invalidArgument
    case .nameTaken: .alreadyExists
    case .quota: .resourceExhausted
    case .timeout: .deadlineExceeded
    case .notFound: .notFound
    }
  }

  /// The error for gRPC clients.
  var status: GoogleRPCStatus {
    var metadata = ["field": self.field]
    if let value { metadata["value"] = value.clipped(toBytes: 128) }
    if let limit { metadata["limit"] = limit }
    if let suggestion { metadata["suggestion"] = suggestion.clipped(toBytes: 128) }
    if let position {
      metadata["line"] = "\(position.line)"
      metadata["column"] = "\(position.column)"
      metadata["utf8_offset"] = "\(position.utf8Offset)"
    }
    let description = self.description.clipped(toBytes: 512)
    let info = ErrorDetails.errorInfo(
      reason: self.reason.rawValue, domain: GoogleRPCStatus.errorDomain, metadata: metadata)
    let message = "\(self.field): \(description)"
    if let subject {
      return GoogleRPCStatus(
        code: self.code, message: message,
        details:
          .quotaFailure(violations: [.init(subject: subject, description: message)]), info)
    }
    return GoogleRPCStatus(
      code: self.code, message: message,
      details:
        .badRequest(violations: [.init(field: self.field, description: description)]), info)
  }
}

extension AssetError: RPCErrorConvertible {
  var rpcErrorCode: RPCError.Code { self.status.rpcErrorCode }
  var rpcErrorMessage: String { self.status.rpcErrorMessage }
  var rpcErrorMetadata: Metadata { self.status.rpcErrorMetadata }
}
