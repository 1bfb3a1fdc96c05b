import Synchronization

/// Reports to sessions when the run is over, and to the measurement when all sessions are open.
final class Course: Sendable {
  private let missing: Mutex<Int>
  private let over = Atomic(false)
  private let stands: AsyncStream<Void>
  private let stand: AsyncStream<Void>.Continuation

  /// - Parameter streams: The number of sessions.
  init(streams: Int) {
    self.missing = Mutex(streams)
    (self.stands, self.stand) = AsyncStream.makeStream()
  }

  /// A session is open.
  func open() {
    let isLast = self.missing.withLock { missing in
      missing -= 1
      return missing == 0
    }
    if isLast { self.stand.finish() }
  }

  /// Waits until all sessions are open.
  func waitUntilOpen() async {
    for await _ in self.stands {}
  }

  /// Ends the run: sessions send no more frames.
  func end() {
    self.over.store(true, ordering: .relaxed)
  }

  /// Whether the run is over.
  var isOver: Bool { self.over.load(ordering: .relaxed) }
}
