import Synchronization

/// Where the two sides of a client meet: the one that sends waits for what the other reads, and the
/// one that reads may rest until the other has gone on.
final class StepSynchronizer: Sendable {
  private struct State {
    var step = 0
    var restsUntil = 0
    var readCount = 0
    /// Whether the sender needs to hear of something before it can go on.
    var isSenderWaiting = false
    var isOver = false
  }

  private let state = Mutex(State())
  private let (news, newsTeller) = AsyncStream.makeStream(
    of: Void.self, bufferingPolicy: .bufferingNewest(1))
  private let (pace, paceTeller) = AsyncStream.makeStream(
    of: Void.self, bufferingPolicy: .bufferingNewest(1))

  /// How far the sender has come.
  var currentStep: Int { self.state.withLock { $0.step } }

  // MARK: The sender

  /// The sender comes to its next step.
  func step() {
    self.state.withLock { $0.step += 1 }
    self.paceTeller.yield()
  }

  /// Stops reading for so many steps, unless the sender comes to wait.
  func rest(steps: Int) {
    self.state.withLock { $0.restsUntil = $0.step + steps }
  }

  /// Waits for something to be read.
  ///
  /// - Returns: Whether more may be read; if not, there is nothing to wait for any more.
  func waitForNews() async -> Bool {
    let isOver = self.state.withLock { state in
      state.isSenderWaiting = true
      return state.isOver
    }
    self.paceTeller.yield()
    guard !isOver else { return false }
    for await _ in self.news { break }
    return self.state.withLock { state in
      state.isSenderWaiting = false
      return !state.isOver && !Task.isCancelled
    }
  }

  /// The sender has sent its last.
  func stopSending() {
    self.state.withLock { $0.isSenderWaiting = true }
    self.paceTeller.yield()
  }

  // MARK: The reader

  /// How many messages were read.
  var readCount: Int { self.state.withLock { $0.readCount } }

  /// Something was read.
  func tell() {
    self.state.withLock { $0.readCount += 1 }
    self.newsTeller.yield()
  }

  /// Nothing is read any more.
  func stopReading() {
    self.state.withLock { $0.isOver = true }
    self.newsTeller.finish()
  }

  /// Rests while the sender wants it.
  func restIfAsked() async {
    func rests() -> Bool {
      self.state.withLock { $0.step < $0.restsUntil && !$0.isSenderWaiting }
    }
    while rests(), !Task.isCancelled {
      for await _ in self.pace { break }
    }
  }
}
