import GRPCCore
import GRPCProtobuf

extension GoogleRPCStatus {
  /// Nobody knows who calls.
  static func unauthenticated(_ reason: AuthenticationFailure.Reason) -> GoogleRPCStatus {
    let message =
      switch reason {
      case .missing: "The call needs credentials."
      case .invalid: "The token is not good."
      case .expired: "The credentials have expired."
      }
    return GoogleRPCStatus(
      code: .unauthenticated, message: message,
      details: .errorInfo(reason: reason.rawValue, domain: Self.errorDomain, metadata: [:]))
  }

  /// The caller is known, and may not.
  ///
  /// - Parameters:
  ///   - scopes: One of which he would need.
  ///   - method: What he asked for.
  static func scopeMissing(_ scopes: Set<Scope>, method: String) -> GoogleRPCStatus {
    let names = scopes.sorted().map(\.rawValue).joined(separator: ", ")
    let message =
      scopes.count == 1
      ? "\(method) needs the scope \(names)." : "\(method) needs one of the scopes \(names)."
    return GoogleRPCStatus(
      code: .permissionDenied, message: message,
      details:
        .errorInfo(
          reason: "SCOPE_MISSING", domain: Self.errorDomain,
          metadata: ["scopes": names, "method": method]))
  }
}
