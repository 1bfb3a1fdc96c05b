import Synchronization

/// Tells sessions when it is over, and those who measure when all sessions stand.
final class Course: Sendable {
  private let missing: Mutex<Int>
  private let over = Atomic(false)
  private let stands: AsyncStream<Void>
  private let stand: AsyncStream<Void>.Continuation

  /// - Parameter streams: How many sessions there are.
  init(streams: Int) {
    self.missing = Mutex(streams)
    (self.stands, self.stand) = AsyncStream.makeStream()
  }

  /// A session stands.
  func open() {
    let isLast = self.missing.withLock { missing in
      missing -= 1
      return missing == 0
    }
    if isLast { self.stand.finish() }
  }

  /// Returns when all sessions stand.
  func waitUntilOpen() async {
    for await _ in self.stands {}
  }

  /// No more is to be sent.
  func end() {
    self.over.store(true, ordering: .relaxed)
  }

  /// Whether no more is to be sent.
  var isOver: Bool { self.over.load(ordering: .relaxed) }
}
