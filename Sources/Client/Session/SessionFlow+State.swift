import Foundation
import GRPCCore
import SidelightWire
import SwiftProtobuf

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
    /// A connection's writer: a message to send, or the end of the connection's use.
    case message(Int)
    /// The client: a request to move.
    case move
    /// A connection's reader: no earlier connection has events.
    case outputs(Int)
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
    /// The connection of a move: the session will not move to it.
    case discarded(Int)
  }

  /// A task that waits for a condition.
  struct Waiter {
    var number: UInt64
    var condition: WaitCondition
    var continuation: CheckedContinuation<Void, Never>
  }

  /// A connection of the session.
  struct Link {
    /// The time at which it was opened, on the session's clock.
    var opened: Duration?
    /// The time of the server's last message.
    var lastActivity: Duration
    /// Whether the server's messages wait for those of earlier connections.
    var isReaderWaiting = false
    /// The shared memory, if any.
    var ring: ClientRing?
    /// The server's notices before the session moves to it.
    var notices: [State.Notice] = []
    /// Whether the session will not move to it.
    var isDiscarded = false
    /// Whether that is because its resume token is outdated.
    var isOutdated = false
  }

  /// The server's answer to the opening of a connection.
  struct OpenedLink {
    var id: String
    var framesInFlight: Int
    var revision: UInt64
    var token: Data
    var ring: ClientRing?
    /// The event of a move to this connection.
    var event: ConnectionEvent
  }

  /// A server's request to move.
  struct MoveRequest {
    /// The addresses that it prefers.
    var addresses: [String]
    /// The limit of an attempt to open a connection: several fit into the time that the server
    /// leaves.
    var attemptLimit: Duration?

    init(_ message: Sidelight_V1_Move) {
      self.addresses = message.addresses
      if message.hasTimeLeft {
        self.attemptLimit = max(.milliseconds(300), Duration(message.timeLeft) / 4)
      }
    }
  }

  struct Ping {
    /// The connection on which it was sent.
    var link = 0
    /// The time at which it was sent, on the session's clock and in nanoseconds since 1970.
    var sent: (now: Duration, wall: Int64)?
    var answer: Result<ClockReading, any Error>?
  }

  /// A pure state machine of the window, the outcomes and the requested changes.
  struct State {
    /// What a notice of the server changes.
    typealias Notice = @Sendable (inout State) -> Void

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
    /// The connections that have not ended, by their numbers.
    var links: [Int: Link] = [:]
    var lastLink = 0
    /// The number of the connection on which messages are sent.
    var current = 0
    /// The first frame of the current connection.
    private(set) var firstSequence: UInt64 = 1
    /// The connection that is opened to move to it, until the session does.
    var pending: Int?
    /// ``pending``, if it is open.
    var next: (link: Int, opened: OpenedLink)?
    /// The connections that the session has left, with the frames that they may return.
    private(set) var retired: [(link: Int, frames: Range<UInt64>)] = []
    /// The server's request to move, until it is fulfilled.
    var moveRequest: MoveRequest?
    var isMoveAnnounced = false
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
      case .message(let link):
        link < self.current
          || (link == self.current && self.window.isReady(holdingControls: self.holdsControls))
      case .move: self.isMoveAnnounced
      case .outputs(let link): !self.retired.contains { $0.link < link }
      case .event: self.outcomes.isReady
      case .capacity: self.window.hasAnswer
      case .opening: self.opening != nil
      case .drained: self.window.isDrained
      case .pong(let id): self.pings[id]?.answer != nil
      case .discarded(let link): self.links[link]?.isDiscarded ?? true
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
      as role: StreamRole, mustProcess: Bool, _ make: (UInt64) -> OutgoingFrame
    ) -> Window.Offer {
      var accepted: OutgoingFrame?
      let offer = self.window.offer(as: role, mustProcess: mustProcess) { sequence in
        let frame = make(sequence)
        accepted = frame
        return frame
      }
      switch offer {
      case .accept(let sequence, let displaced):
        if let accepted { self.outcomes.add(accepted, sequence: sequence) }
        for frame in displaced { self.outcomes.drop(frame.sequence, .supersededBeforeSending) }
        if let accepted, self.next != nil { self.requestKeyFrameForMove(at: accepted.submitted) }
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
      self.requestKeyFrame(for: frame.sequence, reason, at: frame.submitted)
    }

    /// Asks the caller for the key frame with which the session can move.
    mutating func requestKeyFrameForMove(at now: Duration) {
      guard !self.window.canMove else { return }
      self.requestKeyFrame(for: self.window.firstUnsent, .start, at: now)
    }

    private mutating func requestKeyFrame(
      for sequence: UInt64, _ reason: KeyFrameReason, at now: Duration
    ) {
      if let last = self.keyFrameRequested, now - last < Self.keyFrameRequestInterval { return }
      self.keyFrameRequested = now
      self.outcomes.push(
        .keyFrameNeeded(KeyFrameRequest(sequence: sequence, reason: reason)),
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

    mutating func recordSent(_ control: Control, now: Duration, wall: Int64) {
      switch control {
      case .change(_, let requestID): self.changes.send(requestID)
      case .pause(let pause): self.changes.pause = pause
      case .ping(let id):
        self.pings[id]?.sent = (now, wall)
        self.pings[id]?.link = self.current
      case .setEncoder, .setComposition, .requestKeyFrame, .acknowledge: break
      }
    }

    // MARK: Connections

    /// Adds a connection, and returns its number.
    mutating func addLink(at now: Duration) -> Int {
      self.lastLink += 1
      self.links[self.lastLink] = Link(lastActivity: now)
      return self.lastLink
    }

    /// The time of the last message on a connection, or the current one while its reader waits.
    func lastActivity(on link: Int, now: Duration) -> Duration {
      guard let link = self.links[link] else { return .zero }
      return link.isReaderWaiting ? now : link.lastActivity
    }

    /// Begins to use the current connection.
    mutating func open(_ opened: OpenedLink) {
      let controls = self.startControls(opened, replay: self.changes.takeReplay())
      self.window.open(capacity: opened.framesInFlight, first: controls)
      self.firstSequence = self.window.firstUnsent
      self.opening = self.opening ?? .success(())
    }

    /// Records the state of a new connection, and returns the messages that it begins with.
    private mutating func startControls(
      _ opened: OpenedLink, replay: PipelineChangeLog.Replay?
    ) -> [Control] {
      self.id = opened.id
      self.changes.token = opened.token.isEmpty ? nil : opened.token
      // The server reports an active override again.
      self.fallbacks.recordConnection(revision: opened.revision)
      self.lastState = .running
      var controls: [Control] = []
      if let replay { controls.append(.select(replay)) }
      if let pause = self.changes.pause { controls.append(.pause(pause)) }
      return controls + self.encoders.replay
    }

    /// Whether controls wait for the next connection: the session moves to it as soon as the changes
    /// that were sent have their answers.
    var holdsControls: Bool { self.next != nil && self.window.canMove }

    /// Moves to the next connection as soon as no frame is lost by it, and all changes have their
    /// answers.
    mutating func moveIfPossible() {
      guard self.next != nil, self.window.canMove, self.changes.areAnswered else { return }
      self.retired.append((self.current, self.firstSequence ..< self.window.firstUnsent))
      self.move()
    }

    /// Moves to the next connection.
    mutating func move() {
      guard let (link, opened) = self.next.take() else { return }
      self.current = link
      self.pending = nil
      self.moveRequest = nil
      let controls = self.startControls(opened, replay: self.changes.takeMoveReplay())
      self.firstSequence = self.window.firstUnsent
      for frame in self.window.move(capacity: opened.framesInFlight, first: controls) {
        self.outcomes.drop(frame.sequence, .notDecodable)
        self.requestKeyFrame(for: frame, .start)
      }
      self.outcomes.push(.connection(opened.event), topic: "connection")
      let notices = self.links[link]?.notices ?? []
      self.links[link]?.notices = []
      for notice in notices { notice(&self) }
    }

    /// Ends the connection of a move, if any, without moving to it.
    ///
    /// - Parameter isOutdated: Whether its resume token is outdated.
    mutating func discardPending(isOutdated: Bool) {
      guard let link = self.pending.take() else { return }
      self.next = nil
      self.links[link]?.isDiscarded = true
      self.links[link]?.isOutdated = isOutdated
    }

    /// Removes a connection that is not the current one. Frames that it has not returned are lost.
    mutating func end(_ link: Int) {
      self.links[link] = nil
      if self.pending == link { (self.pending, self.next) = (nil, nil) }
      guard let index = self.retired.firstIndex(where: { $0.link == link }) else { return }
      let lost = self.outcomes.pending(in: self.retired.remove(at: index).frames)
      for (sequence, frame) in lost {
        self.sendTimes[sequence] = nil
        self.drop(frame, .connectionLost, hiding: self.changes.protection)
      }
      self.window.returnCredits(lost.count)
      self.failPings(of: link)
    }

    private mutating func failPings(of link: Int) {
      for (id, ping) in self.pings where ping.answer == nil && ping.link == link {
        self.pings[id]?.answer = .failure(SessionFlow.disconnected)
      }
    }

    /// Ends everything that depended on the lost connection.
    mutating func lose() {
      self.links[self.current] = nil
      self.moveRequest = nil
      self.isMoveAnnounced = false
      // A new connection begins with the newest settings of the encoders.
      let unsent = self.window.close {
        switch $0 {
        case .setEncoder, .setComposition: true
        default: false
        }
      }
      self.sendTimes = self.sendTimes.filter { $0.key < self.firstSequence }
      for control in unsent.controls { self.recordSent(control, now: .zero, wall: 0) }
      self.rejectConditionalChanges()
      let protection = self.changes.protection
      var inFlight = 0
      for (sequence, frame) in self.outcomes.pending(
        in: self.firstSequence ..< unsent.nextSequence)
      {
        guard unsent.waiting.contains(sequence) else {
          self.drop(frame, .connectionLost, hiding: protection)
          inFlight += 1
          continue
        }
        if !unsent.isKept { self.drop(frame, .disconnected, hiding: protection) }
      }
      self.window.returnCredits(inFlight)
      self.failPings(of: 0)
      self.failPings(of: self.current)
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
