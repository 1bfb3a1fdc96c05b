import Synchronization

/// How each service does, for whoever asks and whoever watches.
///
/// A service serves from the moment its server does until it begins to shut down, and never again
/// after that.
final class HealthStatusStore: Sendable {
  private struct State {
    var isServing = true
    var nextWatcher = 0
    var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
  }

  /// The services, by full name; `""` is the server as a whole.
  let services: Set<String>
  private let state = Mutex(State())

  init(services: [String]) {
    self.services = Set(services).union([""])
  }

  /// Whether the services serve.
  var isServing: Bool { self.state.withLock { $0.isServing } }

  /// No service serves any more; whoever watches is told. A second call does nothing.
  func stopServing() {
    let watchers = self.state.withLock { state in
      state.isServing = false
      return state.watchers.values
    }
    for watcher in watchers { watcher.yield() }
  }

  /// Calls `body` with a stream that ticks on each change.
  func withChanges<Result>(
    _ body: (AsyncStream<Void>) async throws -> Result
  ) async rethrows -> Result {
    // One tick that waits is as good as many: whoever takes it looks at what is now.
    let (changes, continuation) = AsyncStream<Void>.makeStream(
      bufferingPolicy: .bufferingNewest(1))
    let number = self.state.withLock { state in
      defer { state.nextWatcher += 1 }
      state.watchers[state.nextWatcher] = continuation
      return state.nextWatcher
    }
    defer { self.state.withLock { _ = $0.watchers.removeValue(forKey: number) } }
    return try await body(changes)
  }
}
