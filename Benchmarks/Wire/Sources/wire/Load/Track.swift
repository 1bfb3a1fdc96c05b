import Synchronization

/// What one session has measured.
final class Track: Sendable {
  private struct State {
    var sent: [ContinuousClock.Instant] = []
    /// How many of `sent` have come back.
    var returned = 0
    var arrivals: [(at: ContinuousClock.Instant, roundTrip: Duration)] = []
    var dropped = 0
  }

  private let state = Mutex(State())

  /// A frame is given to be sent.
  func send() {
    let now = ContinuousClock.now
    self.state.withLock { $0.sent.append(now) }
  }

  /// The frame that went longest ago is back.
  func arrive() {
    let now = ContinuousClock.now
    self.state.withLock { state in
      state.arrivals.append((now, now - state.sent[state.returned]))
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

  /// The round trips of the frames that came back in a window of time.
  func roundTrips(_ window: Range<ContinuousClock.Instant>) -> [Duration] {
    self.state.withLock { state in
      state.arrivals.lazy.filter { window.contains($0.at) }.map(\.roundTrip)
    }
  }

  /// Frames of the whole run that did not come back.
  var dropped: Int { self.state.withLock { $0.dropped } }
}
