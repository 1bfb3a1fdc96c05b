import GRPCCore
import GRPCProtobuf
import Synchronization

/// Counts the sessions that stand, and refuses those that are too many.
final class SessionGauge: Sendable {
  private let limit: Int
  private let count = Mutex(0)

  init(limit: Int) {
    self.limit = limit
  }

  /// Sessions that stand.
  var current: Int { self.count.withLock { $0 } }

  /// Counts a session while `body` serves it.
  ///
  /// - Throws: RESOURCE_EXHAUSTED with `RetryInfo` when there is no room for one more.
  func withSession<Result>(_ body: () async throws -> Result) async throws -> Result {
    let isAdmitted = self.count.withLock { count in
      guard count < self.limit else { return false }
      count += 1
      return true
    }
    guard isAdmitted else {
      throw GoogleRPCStatus(
        code: .resourceExhausted,
        message: "The server holds \(self.limit) sessions, its limit (max_sessions).",
        details: .quotaFailure(violations: [
          .init(subject: "server", description: "max_sessions is \(self.limit)")
        ]), .retryInfo(delay: .seconds(1)))
    }
    defer { self.count.withLock { $0 -= 1 } }
    return try await body()
  }
}
