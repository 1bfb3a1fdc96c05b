import GRPCCore
import GRPCProtobuf
import SidelightWire
import SwiftProtobuf
import Synchronization

/// The request that a session ends here before its client ends it: of a shutdown or an operator.
final class SessionDeparture: Sendable {
  private struct State {
    /// The time at which the session ends, and the status that it then ends with.
    var due: (time: Duration, status: GoogleRPCStatus)?
    var status: GoogleRPCStatus?
    /// Finished when one of these changes.
    var change = Completion()
  }

  private let state = Mutex(State())

  /// The status with which the server ends the session, once that is decided.
  var status: GoogleRPCStatus? { self.state.withLock { $0.status } }

  /// Gives the client a time to continue elsewhere. The earliest end counts.
  ///
  /// - Parameter status: The status with which the session ends if the client has not left it then.
  /// - Returns: The time of the end.
  func begin(until time: Duration, otherwise status: GoogleRPCStatus) -> Duration {
    self.update { state in
      let time = min(time, state.due?.time ?? time)
      state.due = (time, status)
      return time
    }
  }

  /// Ends the session. The first status counts.
  func end(with status: GoogleRPCStatus) {
    self.update { $0.status = $0.status ?? status }
  }

  private func update<Result>(_ body: (inout State) -> Result) -> Result {
    let (result, change) = self.state.withLock { state in
      let result = body(&state)
      let change = state.change
      state.change = Completion()
      return (result, change)
    }
    change.finish()
    return result
  }

  /// Returns the status with which the session ends as soon as its end is due, or `nil` if the task
  /// is cancelled first. For one task.
  func waitUntilDue(on clock: SessionClock) async -> GoogleRPCStatus? {
    await withTaskCancellationHandler {
      while !Task.isCancelled {
        let now = clock.now()
        let (status, time, change) = self.state.withLock { state in
          if let due = state.due, due.time <= now { state.status = state.status ?? due.status }
          return (state.status, state.due?.time, state.change)
        }
        if let status { return status }
        if let time {
          _ = await change.wait(atMost: time - now, on: clock)
        } else {
          await change.wait()
        }
      }
      return nil
    } onCancel: {
      self.update { _ in }
    }
  }
}

extension SessionHandle {
  /// Asks the client to continue elsewhere, and ends the session after a time limit; at once if the
  /// client doesn't support that.
  ///
  /// - Parameters:
  ///   - addresses: The addresses to continue at. Empty lets the client choose.
  ///   - status: The status for a client that doesn't support it, or has not left in time.
  /// - Returns: Whether the client was asked.
  @discardableResult
  func move(
    to addresses: [String], within timeLimit: Duration, otherwise status: GoogleRPCStatus
  ) -> Bool {
    guard self.acceptsMove else {
      self.departure.end(with: status)
      return false
    }
    let now = self.clock.now()
    let end = self.departure.begin(until: now + timeLimit, otherwise: status)
    self.outcomes.push(
      .message(
        .with {
          $0.state.state = .move
          $0.state.message = "Continue this session elsewhere."
          $0.state.resumeToken = self.resumeToken()
          $0.state.revision = self.revision
          $0.state.move.addresses = addresses
          $0.state.move.timeLeft = Google_Protobuf_Duration(rounding: max(.zero, end - now))
        }))
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
