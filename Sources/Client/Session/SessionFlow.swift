import GRPCCore
import SidelightKernels
import Synchronization

/// What stands between the caller, the wire and whoever takes outcomes: the window, the ledger and the
/// journal, one lock round the three, and the tasks that wait for them.
final class SessionFlow: Sendable {
  typealias Window = SendWindow<OutgoingFrame, Control>
  typealias Ledger = OutcomeLedger<OutgoingFrame, SessionEvent>

  let options: SessionOptions
  let clock: ClientClock
  let state: Mutex<State>

  init(options: SessionOptions, clock: ClientClock) {
    self.options = options
    self.clock = clock
    self.state = Mutex(
      State(
        window: Window(policy: options.dropPolicy),
        journal: SelectionJournal(pipeline: options.pipeline),
        standIns: StandInSource(policy: options.reconnect?.failOpen ?? .nothing)))
  }

  var wallTime: Int64 { Int64(clamping: self.clock.nanosecondsSince1970()) }

  static let disconnected = RPCError(
    code: .unavailable, message: "There is no connection.")

  /// Changes the state, and wakes those whose wish that grants.
  func update<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var woken: [CheckedContinuation<Void, Never>] = []
    let result: Swift.Result<Result, Failure> = self.state.withLock { state in
      let result: Swift.Result<Result, Failure>
      do throws(Failure) {
        result = .success(try body(&state))
      } catch {
        result = .failure(error)
      }
      for wish in state.waiting.keys where state.isGranted(wish) {
        woken += state.waiting.removeValue(forKey: wish)?.values ?? [:].values
      }
      return result
    }
    for continuation in woken { continuation.resume() }
    return try result.get()
  }

  /// Returns when the wish is granted, at least for a moment, or the task is cancelled.
  func wait(for wish: Wish) async {
    let waiter = self.state.withLock { state in
      defer { state.nextWaiter += 1 }
      return state.nextWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waits = self.state.withLock { state in
          guard !Task.isCancelled, !state.isGranted(wish) else { return false }
          state.waiting[wish, default: [:]][waiter] = continuation
          return true
        }
        if !waits { continuation.resume() }
      }
    } onCancel: {
      let continuation = self.state.withLock { state in
        let continuation = state.waiting[wish]?.removeValue(forKey: waiter)
        if state.waiting[wish]?.isEmpty == true { state.waiting[wish] = nil }
        return continuation
      }
      continuation?.resume()
    }
  }
}
