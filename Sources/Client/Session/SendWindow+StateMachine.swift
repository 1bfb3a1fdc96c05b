import DequeModule

extension SendWindow {
  /// What may be sent and when. Decides without waiting for anything itself.
  ///
  /// Messages leave in the order in which they were given, so a selection applies to the frames given
  /// after it. A frame at the head waits for a credit; a newer frame displaces it.
  package struct StateMachine: ~Copyable {
    package enum Element: Sendable {
      case frame(PendingFrame)
      case control(Control)
    }

    private let policy: SessionOptions.DropPolicy
    private var queue: Deque<Element> = []
    private var credits = 0
    private var isFinished = false

    package init(policy: SessionOptions.DropPolicy) {
      self.policy = policy
    }

    package enum OfferAction: Sendable {
      /// Taken in; a frame that waited may have been displaced.
      case accept(displaced: PendingFrame?)
      /// A frame waits already, and none may be dropped.
      case wait
      /// Nothing is sent any more.
      case refuse
    }

    /// A frame is to be sent.
    package mutating func offer(_ frame: PendingFrame) -> OfferAction {
      guard !self.isFinished else { return .refuse }
      var displaced: PendingFrame?
      if let index = self.waitingFrameIndex {
        guard self.policy == .newestWins else { return .wait }
        if case .frame(let old) = self.queue.remove(at: index) { displaced = old }
      }
      self.queue.append(.frame(frame))
      return .accept(displaced: displaced)
    }

    /// Another message is to be sent.
    package mutating func push(_ control: Control) {
      guard !self.isFinished else { return }
      self.queue.append(.control(control))
    }

    /// The server, or whoever consumes outcomes, makes room for frames.
    package mutating func addCredits(_ count: Int) {
      self.credits += count
    }

    /// No more is given; what is in still goes.
    package mutating func finish() {
      self.isFinished = true
    }

    package enum Next {
      case send(Element)
      case wait
      case finished
    }

    /// What to send now.
    package mutating func next() -> Next {
      switch self.queue.first {
      case .control?: return .send(self.queue.removeFirst())
      case .frame? where self.credits > 0:
        self.credits -= 1
        return .send(self.queue.removeFirst())
      case .frame?: return .wait
      case nil: return self.isFinished ? .finished : .wait
      }
    }

    /// Whether an offer would displace or wait.
    package var isFrameWaiting: Bool { self.waitingFrameIndex != nil }

    /// At most one frame waits, since a second one displaces it or is not taken in.
    private var waitingFrameIndex: Int? {
      self.queue.firstIndex { if case .frame = $0 { true } else { false } }
    }
  }
}
