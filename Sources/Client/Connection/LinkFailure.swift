import GRPCCore
import GRPCProtobuf

/// The kind of failure that ended a connection or an attempt to open one.
package enum LinkFailure: Sendable, Hashable {
  /// Another attempt may succeed: the server is gone, shutting down, or failing.
  case transient
  /// The server is out of capacity, and states when to retry.
  case exhausted(retryAfter: Duration)
  /// A precondition of the session is not met. For an attempt with a resume token: the token is
  /// invalid.
  case precondition
  /// A retry would fail the same way.
  case permanent

  package init(_ error: any Error) {
    guard let error = error as? RPCError else {
      self = .permanent
      return
    }
    switch error.code {
    case .unavailable, .cancelled, .unknown, .internalError, .aborted, .deadlineExceeded:
      self = .transient
    case .resourceExhausted:
      // Without a retry delay, the session itself exceeds a limit.
      let delays = try? error.unpackGoogleRPCStatus()?.details.compactMap(\.retryInfo?.delay)
      self = (delays?.first).map { .exhausted(retryAfter: $0) } ?? .permanent
    case .failedPrecondition:
      // Without its token the session would escape the override.
      let reasons = try? error.unpackGoogleRPCStatus()?.details.compactMap(\.errorInfo?.reason)
      self = reasons?.contains("OVERRIDE_INVALID") == true ? .permanent : .precondition
    default: self = .permanent
    }
  }
}
