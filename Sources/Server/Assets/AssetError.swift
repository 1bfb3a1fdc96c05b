import GRPCCore
import GRPCProtobuf
import SidelightKernels
import SidelightWire

/// Why something about an asset is refused: with a reason for programs, and the field, what it is and
/// what it may be for people.
struct AssetError: Error, Sendable, Hashable {
  /// The kind of fault: what `google.rpc.ErrorInfo` carries as its reason.
  enum Reason: String, Sendable, Hashable {
    /// A message of the upload is not the one that belongs there.
    case order = "ASSET_UPLOAD_ORDER"
    /// No asset can have this name.
    case name = "ASSET_NAME_INVALID"
    /// The server has an asset of its own under this name.
    case nameTaken = "ASSET_NAME_TAKEN"
    /// The file, or its picture, is larger than may be.
    case tooLarge = "ASSET_TOO_LARGE"
    /// The file is not as long as was stated.
    case length = "ASSET_LENGTH_MISMATCH"
    /// The file is not the one whose digest was stated.
    case digest = "ASSET_DIGEST_MISMATCH"
    /// The file is no sound picture and no sound table.
    case unreadable = "ASSET_UNREADABLE"
    /// The caller, or all callers, would have more than they may.
    case quota = "ASSET_QUOTA_EXCEEDED"
    /// The upload took too long.
    case timeout = "ASSET_UPLOAD_TIMEOUT"
    /// The caller has put no asset of this name.
    case notFound = "ASSET_NOT_FOUND"
  }

  let reason: Reason
  /// The field of the request, or the limit's name.
  let field: String
  /// What is wrong, with value and limit: goes on where the field's name ends.
  let description: String
  /// The value at fault, where it is one.
  var value: String?
  /// What it may be, or should have been.
  var limit: String?
  /// Whose limit it is, for a quota.
  var subject: String?
}

extension AssetError {
  /// A quota would be exceeded.
  ///
  /// - Parameters:
  ///   - subject: Whose it is: the caller's name, or `server`.
  ///   - name: The limit's name, as the wire has it.
  ///   - value: What it would come to.
  static func quota(of subject: String, _ name: String, value: Int, limit: Int) -> AssetError {
    AssetError(
      reason: .quota, field: name,
      description: "would come to \(value) for \(subject), the limit is \(limit)",
      value: "\(value)", limit: "\(limit)", subject: subject)
  }

  private var code: RPCError.Code {
    switch self.reason {
    case .order: .failedPrecondition
    case .name, .tooLarge, .length, .digest, .unreadable: .invalidArgument
    case .nameTaken: .alreadyExists
    case .quota: .resourceExhausted
    case .timeout: .deadlineExceeded
    case .notFound: .notFound
    }
  }

  /// The fault as gRPC's clients read it.
  var status: GoogleRPCStatus {
    var metadata = ["field": self.field]
    if let value { metadata["value"] = value.clipped(toBytes: 128) }
    if let limit { metadata["limit"] = limit }
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
