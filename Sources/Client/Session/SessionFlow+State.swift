import GRPCCore
import SidelightKernels

extension SessionFlow {
  /// What tasks wait for.
  enum Wish: Hashable {
    /// The sender: something to send.
    case message
    /// Whoever takes outcomes: something to tell.
    case event
    /// A caller: room for a frame.
    case room
    /// The client: the first opening.
    case opening
    /// The client: that nothing is left to open a connection for.
    case drained
    /// A caller: the answer to a ping.
    case pong(UInt64)
  }

  struct Ping {
    /// When it left, on the session's clock, and in nanoseconds since 1970.
    var sent: (now: Duration, wall: Int64)?
    var answer: Result<ClockReading, any Error>?
  }

  struct State {
    var window: Window
    var ledger = Ledger()
    var journal: SelectionJournal
    var standIns: StandInSource
    var lastState = SessionState.running
    var id = ""
    /// The first opening's result.
    var opening: Result<Void, any Error>?
    /// When the connection that was opened last stood.
    var linkOpened: Duration?
    var lastHeard = Duration.zero
    var pings: [UInt64: Ping] = [:]
    var nextPing: UInt64 = 1
    var waiting: [Wish: [UInt64: CheckedContinuation<Void, Never>]] = [:]
    var nextWaiter: UInt64 = 0

    func isGranted(_ wish: Wish) -> Bool {
      switch wish {
      case .message: self.window.hasNews
      case .event: self.ledger.hasNews
      case .room: self.window.hasAnswer
      case .opening: self.opening != nil
      case .drained: self.window.isDrained
      case .pong(let id): self.pings[id]?.answer != nil
      }
    }

    /// A frame is given; if it cannot be sent, or takes another's place, that is decided at once.
    mutating func offer(_ make: (UInt64) -> OutgoingFrame) -> Window.Offer {
      var given: OutgoingFrame?
      let offer = self.window.offer { sequence in
        let frame = make(sequence)
        given = frame
        return frame
      }
      switch offer {
      case .accept(let sequence, let displaced):
        if let given { self.ledger.add(given, sequence: sequence) }
        if let displaced { self.ledger.drop(displaced.sequence, .supersededBeforeSending) }
      case .disconnected(let sequence):
        let frame = make(sequence)
        self.ledger.add(frame, sequence: sequence)
        self.drop(frame, .disconnected)
      case .wait, .refuse: break
      }
      return offer
    }

    /// What to tell next; taking a frame's fate makes room for another.
    mutating func nextEvent(acknowledges: Bool) -> Ledger.Next {
      let next = self.ledger.next()
      if case .told(.outcome(_, let sequence, let isPicture)) = next {
        self.window.returnCredits(1)
        if acknowledges, isPicture { self.window.acknowledge(sequence) }
      }
      return next
    }

    /// A message leaves.
    mutating func noteSent(_ control: Control, now: Duration, wall: Int64) {
      switch control {
      case .change(_, _, let requestID): self.journal.send(requestID)
      case .pause(let pause): self.journal.pause = pause
      case .ping(let id): self.pings[id]?.sent = (now, wall)
      }
    }

    /// There is no connection any more: everything that depended on it ends.
    mutating func lose() {
      let remains = self.window.close()
      for control in remains.controls { self.noteSent(control, now: .zero, wall: 0) }
      self.rejectConditionalChanges()
      var inFlight = 0
      for (sequence, frame) in self.ledger.pending(in: ..<remains.bound) {
        guard sequence == remains.waiting?.sequence else {
          self.drop(frame, .connectionLost)
          inFlight += 1
          continue
        }
        if !remains.isKept { self.drop(frame, .disconnected) }
      }
      self.window.returnCredits(inFlight)
      for id in self.pings.keys where self.pings[id]?.answer == nil {
        self.pings[id]?.answer = .failure(SessionFlow.disconnected)
      }
    }

    mutating func rejectConditionalChanges() {
      for requestID in self.journal.loseConnection() {
        self.ledger.tell(
          .rejected(
            RejectedChange(
              requestID: requestID, cause: .connectionLost,
              message: "The connection was lost before the server answered.")))
      }
    }

    private mutating func drop(_ frame: OutgoingFrame, _ reason: DroppedFrame.Reason) {
      let standIn = self.standIns.standIn(for: frame.frame.picture)
      let outcome = standIn.map { standIn in
        SessionEvent.outcome(
          .dropped(
            DroppedFrame(
              sequence: frame.sequence, reason: reason,
              stage: reason == .connectionLost ? .unknown : .client, standIn: standIn)))
      }
      self.ledger.drop(frame.sequence, reason, standIn: outcome)
    }
  }
}
