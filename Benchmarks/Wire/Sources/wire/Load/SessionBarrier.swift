import Synchronization

/// Reports to sessions when the run is over, and to the measurement when all sessions are open.
final class SessionBarrier: Sendable {
  private let missing: Mutex<Int>
  private let over = Atomic(false)
  private let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])
  private let openings: AsyncStream<Void>
  private let opening: AsyncStream<Void>.Continuation

  /// - Parameter streams: The number of sessions.
  init(streams: Int) {
    self.missing = Mutex(streams)
    (self.openings, self.opening) = AsyncStream.makeStream()
  }

  /// A session is open.
  func open() {
    let isLast = self.missing.withLock { missing in
      missing -= 1
      return missing == 0
    }
    if isLast { self.opening.finish() }
  }

  /// Waits until all sessions are open.
  func waitUntilOpen() async {
    for await _ in self.openings {}
  }

  /// Ends the run: sessions send no more frames.
  func end() {
    let waiting = self.waiting.withLock { waiting in
      self.over.store(true, ordering: .relaxed)
      defer { waiting = [] }
      return waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Waits until the run is over, or until a session has failed, which cancels all.
  func waitUntilOver() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = self.waiting.withLock { waiting in
          if !self.isOver { waiting.append(continuation) }
          return self.isOver
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      self.end()
    }
  }

  /// Whether the run is over.
  var isOver: Bool { self.over.load(ordering: .relaxed) }
}
