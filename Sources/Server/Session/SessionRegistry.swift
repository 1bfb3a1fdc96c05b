import GRPCCore
import GRPCProtobuf
import Synchronization

/// The sessions that stand, and the rule by which new ones are let in.
final class SessionRegistry: Sendable {
  /// How many sessions there may be.
  struct Limits: Sendable {
    /// In all.
    var total: Int
    /// From one caller.
    var perCaller: Int
    /// The load from which on nobody is let in; `nil`: never.
    var load: Double?
  }

  private struct State {
    var limits: Limits
    /// Sessions that stand or are about to, by caller.
    var callers: [String: Int] = [:]
    var handles: [UInt64: SessionHandle] = [:]
    var nextNumber: UInt64 = 0
    /// The counts of sessions that are over.
    var closedSessionCounts = FrameCounts()
    /// Sessions that were not let in.
    var refused: [AdmissionLimit: UInt64] = [:]
  }

  private let scheduler: FrameScheduler
  private let state: Mutex<State>

  init(limits: Limits, scheduler: FrameScheduler) {
    self.state = Mutex(State(limits: limits))
    self.scheduler = scheduler
  }

  /// Lets in by other limits from now on. Sessions that stand are left alone.
  func setLimits(_ limits: Limits) { self.state.withLock { $0.limits = limits } }

  /// Sessions that stand.
  var count: Int { self.state.withLock { $0.callers.values.reduce(0, +) } }

  /// The sessions that stand, the oldest first.
  var handles: [SessionHandle] {
    self.state.withLock { $0.handles.values.sorted { $0.number < $1.number } }
  }

  /// A page of the open sessions, the oldest first.
  ///
  /// - Parameters:
  ///   - number: The number of the last session of the page before; `nil` for the first page.
  ///   - label: The sessions' label; empty for all sessions.
  ///   - count: The most sessions of the page.
  /// - Returns: The page, and whether no session follows it.
  func page(
    after number: UInt64?, label: String, count: Int
  ) -> (handles: [SessionHandle], isLast: Bool) {
    let handles = self.handles.filter { handle in
      (label.isEmpty || handle.label == label) && number.map { handle.number > $0 } ?? true
    }
    return (Array(handles.prefix(count)), handles.count <= count)
  }

  /// The session of that name.
  func handle(_ id: String) -> SessionHandle? {
    self.state.withLock { $0.handles.values.first { $0.id == id } }
  }

  /// The frames of all sessions; of those that are over, the ones that had their outcome. A call that was
  /// cut off has nobody left to be told of the others.
  var totals: FrameCounts {
    let (closedSessionCounts, handles) = self.state.withLock { ($0.closedSessionCounts, Array($0.handles.values)) }
    return handles.reduce(into: closedSessionCounts) { $0.add($1.outcomes.counts) }
  }

  /// How many sessions were let in, and how many not, since the server began.
  var admissions: (opened: UInt64, refused: [AdmissionLimit: UInt64]) {
    self.state.withLock { ($0.nextNumber, $0.refused) }
  }

  /// Makes room for a session while `body` serves it.
  ///
  /// - Parameters:
  ///   - caller: Whose session it is.
  ///   - body: Gets the session's number for the scheduler.
  /// - Throws: RESOURCE_EXHAUSTED with `RetryInfo` when there is no room for one more.
  func withAdmission<Result>(
    for caller: String, _ body: (_ number: UInt64) async throws -> Result
  ) async throws -> Result {
    let load = self.scheduler.load
    let admission: Swift.Result<UInt64, GRPCProtobuf.GoogleRPCStatus> = self.state.withLock {
      state in
      if let (limit, refusal) = Self.refusal(of: caller, load: load, state) {
        state.refused[limit, default: 0] += 1
        return .failure(refusal)
      }
      state.callers[caller, default: 0] += 1
      defer { state.nextNumber += 1 }
      return .success(state.nextNumber)
    }
    let number = try admission.get()
    defer {
      self.state.withLock { state in
        state.callers[caller] = state.callers[caller].flatMap { $0 > 1 ? $0 - 1 : nil }
        if let handle = state.handles.removeValue(forKey: number) {
          state.closedSessionCounts.add(handle.outcomes.counts.decided)
        }
      }
    }
    return try await body(number)
  }

  /// The session stands.
  func add(_ handle: SessionHandle) {
    self.state.withLock { $0.handles[handle.number] = handle }
  }

  private static func refusal(
    of caller: String, load: Double, _ state: borrowing State
  ) -> (AdmissionLimit, GoogleRPCStatus)? {
    let limits = state.limits
    let total = state.callers.values.reduce(0, +)
    if total >= limits.total {
      return Self.refusal(
        .sessions, subject: "server", limit: "max_sessions is \(limits.total)",
        message: "The server holds \(total) sessions, its limit (max_sessions).")
    }
    let own = state.callers[caller] ?? 0
    if own >= limits.perCaller {
      return Self.refusal(
        .sessionsPerCaller, subject: caller,
        limit: "max_sessions_per_caller is \(limits.perCaller)",
        message: "\(caller) holds \(own) sessions, the limit (max_sessions_per_caller).")
    }
    if let limit = limits.load, load >= limit {
      let percent = Int(load * 100)
      return Self.refusal(
        .load, subject: "server", limit: "max_load is \(limit)",
        message: "The sessions that stand ask for \(percent) % of what the server can compute; "
          + "above \(Int(limit * 100)) % (max_load) no more are opened.")
    }
    return nil
  }

  private static func refusal(
    _ kind: AdmissionLimit, subject: String, limit: String, message: String
  ) -> (AdmissionLimit, GoogleRPCStatus) {
    (
      kind,
      GoogleRPCStatus(
        code: .resourceExhausted, message: message,
        details: .quotaFailure(violations: [.init(subject: subject, description: limit)]),
        .retryInfo(delay: .seconds(1)))
    )
  }
}

/// A limit that keeps sessions out.
package enum AdmissionLimit: String, Sendable, Hashable, CaseIterable {
  /// Sessions in all.
  case sessions = "max_sessions"
  /// Sessions of one caller.
  case sessionsPerCaller = "max_sessions_per_caller"
  /// The load of those that stand.
  case load = "max_load"
}
