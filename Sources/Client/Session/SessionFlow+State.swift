import GRPCCore
import SidelightKernels
import SidelightWire

/// The usual duration of round trips: mean and deviation as in RFC 6298.
struct RoundTripEstimate: Sendable {
  private var mean: Duration?
  private var deviation = Duration.zero

  /// Adds a measurement.
  mutating func record(_ time: Duration) {
    guard let mean else {
      (self.mean, self.deviation) = (time, time / 2)
      return
    }
    self.deviation += ((time > mean ? time - mean : mean - time) - self.deviation) / 4
    self.mean = mean + (time - mean) / 8
  }

  /// A duration that few round trips exceed; `nil` before the first measurement.
  var upperBound: Duration? { self.mean.map { $0 + self.deviation * 4 } }
}

extension SessionFlow {
  /// A condition that tasks wait for.
  enum WaitCondition: Hashable {
    /// The connection's writer: a message to send.
    case message
    /// The reader of events: an event.
    case event
    /// A caller: capacity for a frame.
    case capacity
    /// The client: the first opening.
    case opening
    /// The client: further messages are refused and all accepted ones are sent.
    case drained
    /// A caller: the answer to a ping.
    case pong(UInt64)
  }

  /// A task that waits for a condition.
  struct Waiter {
    var number: UInt64
    var condition: WaitCondition
    var continuation: CheckedContinuation<Void, Never>
  }

  struct Ping {
    /// The time at which it was sent, on the session's clock and in nanoseconds since 1970.
    var sent: (now: Duration, wall: Int64)?
    var answer: Result<ClockReading, any Error>?
  }

  /// A pure state machine of the window, the outcomes and the requested changes.
  struct State {
    var window: Window
    var outcomes = Outcomes()
    /// Whether an iterator has claimed the events.
    var isIterated = false
    var changes: PipelineChangeLog
    var encoders: EncoderChangeLog
    var fallbacks: FallbackPictureSource
    /// The shortest time between two requests for a key frame.
    static let keyFrameRequestInterval = Duration.milliseconds(500)
    /// The time at which the caller was asked for a key frame, on the session's clock.
    var keyFrameRequested: Duration?
    var lastState = SessionState.running
    var id = ""
    /// The first opening's result.
    var opening: Result<Void, any Error>?
    /// The time at which the current connection was opened.
    var linkOpened: Duration?
    var lastActivity = Duration.zero
    /// The times at which frames without an outcome were sent, on the session's clock.
    var sendTimes: [UInt64: Duration] = [:]
    /// The times at which the last frames with an outcome were submitted, for outcomes in outputs.
    var submitted: [UInt64: Duration] = [:]
    /// The time from sending a frame until its outcome.
    var roundTrip = RoundTripEstimate()
    var pings: [UInt64: Ping] = [:]
    var nextPing: UInt64 = 1
    /// A few: the connection's writer, the reader of events, and callers.
    var waiting: [Waiter] = []
    var nextWaiter: UInt64 = 0

    func isSatisfied(_ condition: WaitCondition) -> Bool {
      switch condition {
      case .message: self.window.isReady
      case .event: self.outcomes.isReady
      case .capacity: self.window.hasAnswer
      case .opening: self.opening != nil
      case .drained: self.window.isDrained
      case .pong(let id): self.pings[id]?.answer != nil
      }
    }

    /// Removes and returns the waiters whose condition is satisfied.
    mutating func takeSatisfiedWaiters() -> [Waiter] {
      guard self.waiting.contains(where: { self.isSatisfied($0.condition) }) else { return [] }
      let satisfied = self.waiting.filter { self.isSatisfied($0.condition) }
      self.waiting.removeAll { waiter in satisfied.contains { $0.number == waiter.number } }
      return satisfied
    }

    /// Offers a frame. If it cannot be sent, or replaces another, that outcome is set at once.
    mutating func offer(
      as role: StreamRole, _ make: (UInt64) -> OutgoingFrame
    ) -> Window.Offer {
      var accepted: OutgoingFrame?
      let offer = self.window.offer(as: role) { sequence in
        let frame = make(sequence)
        accepted = frame
        return frame
      }
      switch offer {
      case .accept(let sequence, let displaced):
        if let accepted { self.outcomes.add(accepted, sequence: sequence) }
        for frame in displaced { self.outcomes.drop(frame.sequence, .supersededBeforeSending) }
      case .undecodable(let sequence, let reason, let displaced):
        let frame = make(sequence)
        self.outcomes.add(frame, sequence: sequence)
        for frame in displaced { self.outcomes.drop(frame.sequence, .supersededBeforeSending) }
        self.outcomes.drop(sequence, .notDecodable)
        self.requestKeyFrame(for: frame, reason)
      case .disconnected(let sequence):
        let frame = make(sequence)
        self.outcomes.add(frame, sequence: sequence)
        self.drop(frame, .disconnected, hiding: self.changes.protection)
        if self.fallbacks.needsKeyFrame { self.requestKeyFrame(for: frame, .start) }
      case .wait, .refuse: break
      }
      return offer
    }

    /// Asks the caller for a key frame, at most as often as a server does.
    private mutating func requestKeyFrame(for frame: OutgoingFrame, _ reason: KeyFrameReason) {
      let now = frame.submitted
      if let last = self.keyFrameRequested, now - last < Self.keyFrameRequestInterval { return }
      self.keyFrameRequested = now
      self.outcomes.push(
        .keyFrameNeeded(KeyFrameRequest(sequence: frame.sequence, reason: reason)),
        topic: "keyFrameNeeded")
    }

    /// Returns the next event; taking a frame's outcome returns its credit.
    mutating func nextEvent(acknowledges: Bool) -> Outcomes.Next {
      let next = self.outcomes.next()
      switch next {
      case .item(.outcome(let event, let sequence, let isPicture)):
        self.window.returnCredits(1)
        // Outcomes without pixels need no acknowledgement.
        if case .outcome(.filtered(let frame)) = event, case .omitted = frame.picture { break }
        if acknowledges, isPicture { self.window.acknowledge(sequence) }
      case .item(.event(.outcome(.filtered(let frame)))) where acknowledges:
        if case .omitted = frame.picture { break }
        self.window.acknowledge(frame.sequence)
      case .item(.event(.output(let name, .filtered(let frame)))) where acknowledges:
        self.window.pushUrgent(.acknowledge(output: name, frame.sequence))
      default: break
      }
      return next
    }

    /// Keeps the time of a frame's submission for its outcomes in outputs.
    mutating func keepSubmission(of sequence: UInt64) {
      guard let frame = self.outcomes.pending(sequence) else { return }
      if self.submitted.count >= 64, let oldest = self.submitted.keys.min() {
        self.submitted[oldest] = nil
      }
      self.submitted[sequence] = frame.submitted
    }

    /// Records that a message is sent.
    mutating func recordSent(_ control: Control, now: Duration, wall: Int64) {
      switch control {
      case .change(_, let requestID): self.changes.send(requestID)
      case .pause(let pause): self.changes.pause = pause
      case .ping(let id): self.pings[id]?.sent = (now, wall)
      case .setEncoder, .setComposition, .requestKeyFrame, .acknowledge: break
      }
    }

    /// Ends everything that depended on the lost connection.
    mutating func lose() {
      // A new connection begins with the newest settings of the encoders.
      let unsent = self.window.close {
        switch $0 {
        case .setEncoder, .setComposition: true
        default: false
        }
      }
      self.sendTimes = [:]
      for control in unsent.controls { self.recordSent(control, now: .zero, wall: 0) }
      self.rejectConditionalChanges()
      let protection = self.changes.protection
      var inFlight = 0
      for (sequence, frame) in self.outcomes.pending(in: ..<unsent.nextSequence) {
        guard unsent.waiting.contains(sequence) else {
          self.drop(frame, .connectionLost, hiding: protection)
          inFlight += 1
          continue
        }
        if !unsent.isKept { self.drop(frame, .disconnected, hiding: protection) }
      }
      self.window.returnCredits(inFlight)
      for id in self.pings.keys where self.pings[id]?.answer == nil {
        self.pings[id]?.answer = .failure(SessionFlow.disconnected)
      }
    }

    mutating func rejectConditionalChanges() {
      for requestID in self.changes.loseConnection() {
        self.outcomes.push(
          .rejected(
            RejectedChange(
              requestID: requestID, cause: .connectionLost,
              message: "The connection was lost before the server answered.")))
      }
    }

    private mutating func drop(
      _ frame: OutgoingFrame, _ reason: DroppedFrame.Reason, hiding protection: PipelineProtection
    ) {
      let picture = frame.frame.picture
      var fallback = self.fallbacks.fallback(
        for: picture, sequence: frame.sequence, hiding: protection)
      if fallback?.kind == .original, picture.encoded != nil, self.outcomes.isFullOfFallbacks {
        // The queue would remove pictures on which this one depends.
        self.outcomes.removeFallbacks()
        self.fallbacks.endStream()
        fallback = self.fallbacks.fallback(
          for: picture, sequence: frame.sequence, hiding: protection)
      }
      let outcome = fallback.map { fallback in
        SessionEvent.outcome(
          .dropped(
            DroppedFrame(
              sequence: frame.sequence, reason: reason,
              stage: reason == .connectionLost ? .unknown : .client, fallback: fallback)))
      }
      self.outcomes.drop(frame.sequence, reason, fallback: outcome)
    }
  }
}
