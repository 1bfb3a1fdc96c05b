import NIOCore

/// A timer on a channel's event loop. Only to be used there.
struct LoopTimer {
  private var scheduled: Scheduled<Void>?

  /// Calls `body` once, in place of what was to be called before.
  mutating func start(
    in duration: Duration, on eventLoop: any EventLoop, _ body: @escaping () -> Void
  ) {
    self.cancel()
    self.scheduled = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(duration), body)
  }

  /// Calls nothing any more.
  mutating func cancel() {
    self.scheduled?.cancel()
    self.scheduled = nil
  }
}
