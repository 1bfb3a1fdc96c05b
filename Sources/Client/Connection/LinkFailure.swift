import GRPCCore
import GRPCProtobuf

/// What the end of a connection, or of an attempt to get one, means for the session.
package enum LinkFailure: Sendable, Hashable {
  /// Another attempt may succeed: the server is gone, shutting down, or in trouble of its own.
  case transient
  /// The server has no room now, and says when to ask again.
  case exhausted(retryAfter: Duration)
  /// Something that the session presupposes does not hold. For an attempt with a resume token: the
  /// token is not good.
  case precondition
  /// It would be so again.
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
      // Without the time to wait it is a limit that the session itself exceeded.
      let delays = try? error.unpackGoogleRPCStatus()?.details.compactMap(\.retryInfo?.delay)
      self = (delays?.first).map { .exhausted(retryAfter: $0) } ?? .permanent
    case .failedPrecondition: self = .precondition
    default: self = .permanent
    }
  }
}
