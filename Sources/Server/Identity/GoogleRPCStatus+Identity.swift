import GRPCCore
import GRPCProtobuf

extension GoogleRPCStatus {
  /// The status of a call without valid credentials.
  static func unauthenticated(_ reason: AuthenticationFailure.Reason) -> GoogleRPCStatus {
    let message =
      switch reason {
      case .missing: "The call needs credentials."
      case .invalid: "The token is invalid."
      case .expired: "The credentials have expired."
      }
    return GoogleRPCStatus(
      code: .unauthenticated, message: message,
      details: .errorInfo(reason: reason.rawValue, domain: Self.errorDomain, metadata: [:]))
  }

  /// The status of a call whose caller lacks the method's scopes.
  ///
  /// - Parameters:
  ///   - scopes: The scopes of which the caller needs one.
  ///   - method: The method of the call.
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
