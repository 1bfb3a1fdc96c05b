extension Participant {
  /// Decides when to send a frame or a ping, and records the results. It never waits.
  ///
  /// The rules are the client library's: a frame waits for a credit, a newer one replaces it, and
  /// every outcome returns a credit.
  struct StateMachine: ~Copyable {
    /// Something to send.
    enum Item: Sendable, Equatable {
      case frame(sequence: UInt64)
      case ping(id: UInt64)
    }

    enum Next {
      case send(Item)
      case wait
      case finished
    }

    private let load: Load
    private var inFlight = 0
    private var flightLimit = FlightLimit(capacity: 1)
    private var waiting: UInt64?
    private var isGranted = false
    private var pings: [UInt64] = []
    private var isOpen = true
    /// The frames and pings, by number minus one.
    private(set) var frames: [(given: ContinuousClock.Instant, result: FrameResult)] = []
    private(set) var pongs: [(sent: ContinuousClock.Instant, time: Duration?)] = []
    /// The outcomes without a frame: an error of the server, or of this program.
    private(set) var strayOutcomes = 0

    init(load: Load) {
      self.load = load
    }

    /// The server granted frames in flight.
    mutating func open(framesInFlight: Int) {
      self.flightLimit = FlightLimit(capacity: framesInFlight)
      self.isGranted = true
    }

    /// The next frame is due.
    mutating func offer(at now: ContinuousClock.Instant) {
      if let old = self.waiting { self.frames[Int(old - 1)].result = .dropped(.notSent) }
      self.frames.append((now, .waiting))
      self.waiting = UInt64(self.frames.count)
    }

    /// The next ping is due.
    mutating func ping(at now: ContinuousClock.Instant) {
      self.pongs.append((now, nil))
      self.pings.append(UInt64(self.pongs.count))
    }

    /// Ends the frames and pings.
    mutating func finish() {
      self.isOpen = false
    }

    /// Returns the next item to send now.
    mutating func next(at now: ContinuousClock.Instant) -> Next {
      if !self.pings.isEmpty { return .send(.ping(id: self.pings.removeFirst())) }
      if case .closedLoop = self.load.pace, self.isOpen, self.hasCredit { self.offer(at: now) }
      if let sequence = self.waiting, self.hasCredit {
        self.inFlight += 1
        self.waiting = nil
        self.frames[Int(sequence - 1)].result = .sent(at: now)
        return .send(.frame(sequence: sequence))
      }
      return self.isOpen || self.waiting != nil ? .wait : .finished
    }

    /// A message of the server arrived.
    mutating func receive(_ message: ServerMessage, at now: ContinuousClock.Instant) {
      switch message {
      case .opened(let framesInFlight): self.open(framesInFlight: framesInFlight)
      case .delivered(let sequence, let work, let total):
        if self.frames.indices.contains(Int(sequence) - 1),
          case .sent(let sent) = self.frames[Int(sequence) - 1].result
        {
          self.flightLimit.record(now - sent - total, at: now)
        }
        self.resolve(sequence ... sequence, count: 1) { .delivered(age: now - $0, work: work) }
      case .dropped(let sequences, let count, let reason):
        self.resolve(sequences, count: count) { _ in .dropped(reason) }
      case .pong(let id):
        guard self.pongs.indices.contains(Int(id) - 1) else { return }
        self.pongs[Int(id) - 1].time = now - self.pongs[Int(id) - 1].sent
      case .other: break
      }
    }

    /// Whether a frame may be sent: within the server's grant and, if frames may be dropped, within
    /// the limit that shortens the wait for the next picture.
    private var hasCredit: Bool {
      guard self.load.honoursWindow else { return self.isGranted }
      let isClosedLoop = if case .closedLoop = self.load.pace { true } else { false }
      let limit = isClosedLoop ? self.flightLimit.capacity : self.flightLimit.frames
      return self.isGranted && self.inFlight < limit
    }

    /// Resolves the frames of the range that were sent.
    private mutating func resolve(
      _ sequences: ClosedRange<UInt64>, count: Int,
      _ result: (ContinuousClock.Instant) -> FrameResult
    ) {
      var resolved = 0
      for index in Int(sequences.lowerBound) - 1 ..< Int(sequences.upperBound)
      where self.frames.indices.contains(index) {
        guard case .sent = self.frames[index].result else { continue }
        self.frames[index].result = result(self.frames[index].given)
        resolved += 1
      }
      self.inFlight -= resolved
      self.strayOutcomes += abs(count - resolved)
    }
  }
}
