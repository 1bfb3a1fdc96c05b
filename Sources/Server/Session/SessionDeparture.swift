import GRPCCore
import GRPCProtobuf
import SidelightWire
import SwiftProtobuf
import Synchronization

/// The request that a session ends here before its client ends it: of a shutdown or an operator.
final class SessionDeparture: Sendable {
  private struct State {
    var timeLimit = Duration.zero
    var status: GoogleRPCStatus?
  }

  private let state = Mutex(State())
  private let requested = Completion()
  private let ended = Completion()

  /// The status with which the server ends the session, once that is decided.
  var status: GoogleRPCStatus? { self.state.withLock { $0.status } }

  /// Gives the client a time to continue elsewhere.
  func begin(timeLimit: Duration) {
    self.state.withLock { $0.timeLimit = timeLimit }
    self.requested.finish()
  }

  /// Ends the session. The first status counts.
  func end(with status: GoogleRPCStatus) {
    self.state.withLock { $0.status = $0.status ?? status }
    self.requested.finish()
    self.ended.finish()
  }

  /// Returns the status with which the session ends as soon as its end is due, or `nil` if the task
  /// is cancelled first. For one task.
  func waitUntilDue(on clock: SessionClock) async -> GoogleRPCStatus? {
    await withTaskCancellationHandler {
      await self.requested.wait()
    } onCancel: {
      self.requested.finish()
    }
    let limit = self.state.withLock { $0.timeLimit }
    if !Task.isCancelled { _ = await self.ended.wait(atMost: limit, on: clock) }
    guard !Task.isCancelled else { return nil }
    return self.state.withLock { state in
      let status = state.status ?? .moved
      state.status = status
      return status
    }
  }
}

extension SessionHandle {
  /// Asks the client to continue elsewhere, and ends the session after a time limit; at once if the
  /// client doesn't support that.
  ///
  /// - Parameters:
  ///   - addresses: The addresses to continue at. Empty lets the client choose.
  ///   - status: The status for a client that doesn't support it.
  /// - Returns: Whether the client was asked.
  @discardableResult
  func move(
    to addresses: [String], within timeLimit: Duration, otherwise status: GoogleRPCStatus
  ) -> Bool {
    guard self.acceptsMove else {
      self.departure.end(with: status)
      return false
    }
    self.outcomes.push(
      .message(
        .with {
          $0.state.state = .move
          $0.state.message = "Continue this session elsewhere."
          $0.state.resumeToken = self.resumeToken()
          $0.state.revision = self.revision
          $0.state.move.addresses = addresses
          $0.state.move.timeLeft = Google_Protobuf_Duration(rounding: timeLimit)
        }))
    self.departure.begin(timeLimit: timeLimit)
    return true
  }

  /// Ends the session for an operator. Frames in flight get their outcomes.
  func close(reason: String) {
    self.departure.end(with: .closed(reason: reason))
  }
}

extension GoogleRPCStatus {
  /// An operator, or the end of a time limit, moves the session.
  static var moved: GoogleRPCStatus {
    GoogleRPCStatus(
      code: .unavailable, message: "The session moves to another server.",
      details: .errorInfo(reason: "SESSION_MOVED", domain: Self.errorDomain, metadata: [:]))
  }

  /// An operator closes the session.
  static func closed(reason: String) -> GoogleRPCStatus {
    GoogleRPCStatus(
      code: .permissionDenied,
      message: "An operator has closed the session" + (reason.isEmpty ? "." : ": \(reason)"),
      details: .errorInfo(
        reason: "SESSION_CLOSED", domain: Self.errorDomain, metadata: ["reason": reason]))
  }
}
