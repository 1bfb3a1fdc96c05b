import Synchronization

/// The measurements of one session.
final class SessionRecorder: Sendable {
  private struct State {
    var sent: [ContinuousClock.Instant] = []
    /// The number of frames in `sent` that returned.
    var returned = 0
    var arrivals: [(at: ContinuousClock.Instant, roundTrip: Duration, work: Duration)] = []
    var dropped = 0
  }

  private let state = Mutex(State())

  /// Records that the client has a frame to send.
  func send() {
    let now = ContinuousClock.now
    self.state.withLock { $0.sent.append(now) }
  }

  /// Records that the oldest frame in flight returned.
  ///
  /// - Parameter work: The server's work on the frame, as it reports it.
  func arrive(work: Duration) {
    let now = ContinuousClock.now
    self.state.withLock { state in
      state.arrivals.append((now, now - state.sent[state.returned], work))
      state.returned += 1
    }
  }

  /// Records that the oldest frame in flight was dropped.
  func drop() {
    self.state.withLock { state in
      state.dropped += 1
      state.returned += 1
    }
  }

  /// Returns the round trips and the server's work of the frames that returned in a window of time.
  func arrivals(
    _ window: Range<ContinuousClock.Instant>
  ) -> [(roundTrip: Duration, work: Duration)] {
    self.state.withLock { state in
      state.arrivals.lazy.filter { window.contains($0.at) }.map { ($0.roundTrip, $0.work) }
    }
  }

  /// The frames of the run that did not return.
  var dropped: Int { self.state.withLock { $0.dropped } }
}
