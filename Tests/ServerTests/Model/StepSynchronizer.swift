import Synchronization

/// Synchronizes the two sides of a client: the sender waits until the reader has received messages,
/// and the reader can pause until the sender has taken further steps.
final class StepSynchronizer: Sendable {
  private struct State {
    var step = 0
    var pauseEnd = 0
    var readCount = 0
    /// Whether the sender waits for a message, or has ended. The reader then does not pause.
    var isSenderWaiting = false
    var hasEnded = false
  }

  private let state = Mutex(State())
  private let (messages, messageContinuation) = AsyncStream.makeStream(
    of: Void.self, bufferingPolicy: .bufferingNewest(1))
  private let (progress, progressContinuation) = AsyncStream.makeStream(
    of: Void.self, bufferingPolicy: .bufferingNewest(1))

  /// The number of steps that the sender has taken.
  var currentStep: Int { self.state.withLock { $0.step } }

  // MARK: The sender

  /// Records that the sender takes its next step.
  func step() {
    self.state.withLock { $0.step += 1 }
    self.progressContinuation.yield()
  }

  /// Pauses the reader for a number of steps, or until the sender waits.
  func pauseReader(steps: Int) {
    self.state.withLock { $0.pauseEnd = $0.step + steps }
  }

  /// Waits until the reader has received a message.
  ///
  /// - Returns: `false` if the reader has ended.
  func waitForMessage() async -> Bool {
    let hasEnded = self.state.withLock { state in
      state.isSenderWaiting = true
      return state.hasEnded
    }
    self.progressContinuation.yield()
    guard !hasEnded else { return false }
    for await _ in self.messages { break }
    return self.state.withLock { state in
      state.isSenderWaiting = false
      return !state.hasEnded && !Task.isCancelled
    }
  }

  /// Records that the sender has ended.
  func stopSending() {
    self.state.withLock { $0.isSenderWaiting = true }
    self.progressContinuation.yield()
  }

  // MARK: The reader

  /// The number of received messages.
  var readCount: Int { self.state.withLock { $0.readCount } }

  /// Records a received message.
  func notify() {
    self.state.withLock { $0.readCount += 1 }
    self.messageContinuation.yield()
  }

  /// Records that the reader has ended.
  func stopReading() {
    self.state.withLock { $0.hasEnded = true }
    self.messageContinuation.finish()
  }

  /// Waits while the sender pauses the reader.
  func pauseIfRequested() async {
    func isPaused() -> Bool {
      self.state.withLock { $0.step < $0.pauseEnd && !$0.isSenderWaiting }
    }
    while isPaused(), !Task.isCancelled {
      for await _ in self.progress { break }
    }
  }
}
