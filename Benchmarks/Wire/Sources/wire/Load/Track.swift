import Synchronization

/// What one session has measured.
final class Track: Sendable {
  private struct State {
    var sent: [ContinuousClock.Instant] = []
    /// How many of `sent` have come back.
    var returned = 0
    var arrivals: [(at: ContinuousClock.Instant, roundTrip: Duration, work: Duration)] = []
    var dropped = 0
  }

  private let state = Mutex(State())

  /// A frame is given to be sent.
  func send() {
    let now = ContinuousClock.now
    self.state.withLock { $0.sent.append(now) }
  }

  /// The frame that went longest ago is back.
  ///
  /// - Parameter work: What the server did on it, by its own account.
  func arrive(work: Duration) {
    let now = ContinuousClock.now
    self.state.withLock { state in
      state.arrivals.append((now, now - state.sent[state.returned], work))
      state.returned += 1
    }
  }

  /// The frame that went longest ago will not come back.
  func drop() {
    self.state.withLock { state in
      state.dropped += 1
      state.returned += 1
    }
  }

  /// The round trips, and the server's work, of the frames that came back in a window of time.
  func arrivals(
    _ window: Range<ContinuousClock.Instant>
  ) -> [(roundTrip: Duration, work: Duration)] {
    self.state.withLock { state in
      state.arrivals.lazy.filter { window.contains($0.at) }.map { ($0.roundTrip, $0.work) }
    }
  }

  /// Frames of the whole run that did not come back.
  var dropped: Int { self.state.withLock { $0.dropped } }
}
