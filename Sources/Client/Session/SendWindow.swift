import DequeModule

/// What may be sent, and when: frames wait here for a credit, newest wins. A pure state machine.
///
/// Credits bound the frames in flight in messages. Bytes alone would not: compressed frames would
/// pile up seconds deep in flow-control windows that are sized for raw ones.
///
/// Messages leave in the order in which they were given, so a selection applies to the frames given
/// after it. A frame at the head waits for a credit; a newer frame displaces it. What must not wait
/// with it (acknowledgements, pings) overtakes it.
///
/// Life of its link: none -> opening -> open -> draining -> none, and from each back to none; then
/// opening again. ``finish()`` ends what is given, in any of them.
package struct SendWindow<PendingFrame: Sendable, Control: Sendable>: Sendable {
  package enum Element: Sendable {
    case frame(PendingFrame)
    case control(Control)
    /// The picture of that number, and all before it, have been consumed.
    case acknowledgement(UInt64)
  }

  private enum Link {
    /// There is no connection.
    case none
    /// There is about to be one. Nothing is sent yet.
    case opening
    /// What is given is sent.
    case open
    /// Frames in flight finish; none is sent any more.
    case draining
  }

  private let policy: SessionOptions.DropPolicy
  private var queue: Deque<Element> = []
  private var urgent: Deque<Control> = []
  private var acknowledgement: UInt64?
  private var link = Link.none
  /// Frames that may be without outcome, or with one that nobody has taken.
  private var capacity = 0
  private var outstanding = 0
  private var isFinished = false
  private var isAbandoned = false
  private var nextSequence: UInt64 = 1

  package init(policy: SessionOptions.DropPolicy) {
    self.policy = policy
  }

  // MARK: Given

  package enum Offer: Sendable {
    /// Taken in, under this number; a frame that waited may have been displaced.
    case accept(UInt64, displaced: PendingFrame?)
    /// Taken in, under this number; but there is no connection, and it is not sent.
    case disconnected(UInt64)
    /// A frame waits already, and none may be dropped.
    case wait
    /// Nothing is sent any more.
    case refuse
  }

  /// A frame is to be sent.
  ///
  /// - Parameter make: Makes the frame, if it is taken in, of its number.
  package mutating func offer(_ make: (UInt64) -> PendingFrame) -> Offer {
    guard !self.isFinished else { return .refuse }
    let sequence = self.nextSequence
    if self.policy == .newestWins, self.link != .open {
      self.nextSequence += 1
      return .disconnected(sequence)
    }
    var displaced: PendingFrame?
    if let index = self.waitingFrameIndex {
      guard self.policy == .newestWins else { return .wait }
      if case .frame(let old) = self.queue.remove(at: index) { displaced = old }
    }
    self.nextSequence += 1
    self.queue.append(.frame(make(sequence)))
    return .accept(sequence, displaced: displaced)
  }

  /// Whether a frame would be taken in, or refused, at once.
  package var hasAnswer: Bool {
    self.isFinished || self.policy == .newestWins || self.waitingFrameIndex == nil
  }

  /// Another message is to be sent, after what was given before.
  package mutating func push(_ control: Control) {
    guard !self.isFinished else { return }
    self.queue.append(.control(control))
  }

  /// Another message is to be sent, and does not wait behind a frame that waits. Without effect if
  /// there is no connection.
  package mutating func pushUrgent(_ control: Control) {
    guard self.link == .open || self.link == .draining else { return }
    self.urgent.append(control)
  }

  /// Pictures were consumed. Only the newest acknowledgement is sent.
  package mutating func acknowledge(_ sequence: UInt64) {
    self.acknowledgement = max(self.acknowledgement ?? 0, sequence)
  }

  /// Outcomes were taken, which makes room for as many frames.
  package mutating func returnCredits(_ count: Int) {
    self.outstanding = max(0, self.outstanding - count)
  }

  /// No more is given; what is in still goes.
  package mutating func finish() {
    self.isFinished = true
  }

  /// Whether no more is given, and all that was has been sent.
  package var isDrained: Bool { self.isFinished && self.queue.isEmpty }

  /// Whether there is a connection that takes what is given.
  package var isOpen: Bool { self.link == .open }

  /// Whether what is given waits for a connection, if there is none.
  package var keepsForNextLink: Bool { self.policy != .newestWins }

  // MARK: The link

  /// A connection is being opened.
  package mutating func startOpening() {
    self.link = .opening
  }

  /// The connection stands.
  ///
  /// - Parameters:
  ///   - capacity: The frames that the server grants, at least 1.
  ///   - controls: Messages that go before all others.
  package mutating func open(capacity: Int, first controls: [Control] = []) {
    self.link = .open
    self.capacity = max(1, capacity)
    for control in controls.reversed() { self.queue.prepend(.control(control)) }
  }

  /// The server takes no more frames.
  package mutating func drain() {
    if self.link == .open { self.link = .draining }
  }

  /// What a lost connection leaves behind.
  package struct Remains: Sendable {
    /// The first number that no frame has yet: frames before it were in flight, but for the one that
    /// waited.
    package var bound: UInt64
    /// The frame that waited to be sent.
    package var waiting: PendingFrame?
    /// Whether it goes on waiting, for the next connection.
    package var isKept: Bool
    /// Messages that waited and do not go on waiting.
    package var controls: [Control]
  }

  /// The connection is gone. Where frames may be dropped, nothing is kept for the next one.
  package mutating func close() -> Remains {
    self.link = .none
    self.urgent = []
    self.acknowledgement = nil
    var remains = Remains(
      bound: self.nextSequence, isKept: self.policy != .newestWins && !self.isAbandoned,
      controls: [])
    for element in self.queue {
      switch element {
      case .frame(let frame): remains.waiting = frame
      case .control(let control): remains.controls.append(control)
      case .acknowledgement: break
      }
    }
    if remains.isKept { remains.controls = [] } else { self.queue = [] }
    return remains
  }

  /// Nothing will be sent any more, whatever is in.
  package mutating func abandon() {
    self.isFinished = true
    self.isAbandoned = true
  }

  // MARK: Sent

  package enum Next: Sendable {
    case send(Element)
    case wait
    /// There is no connection, or nothing to send any more.
    case finished
  }

  /// What to send now.
  package mutating func next() -> Next {
    switch self.link {
    case .none: return .finished
    case .opening: return .wait
    case .open, .draining: break
    }
    if let sequence = self.acknowledgement.take() { return .send(.acknowledgement(sequence)) }
    switch self.queue.first {
    case .frame? where self.link == .open && self.outstanding < self.capacity:
      self.outstanding += 1
      return .send(self.queue.removeFirst())
    case .control? where self.link == .open: return .send(self.queue.removeFirst())
    default: break
    }
    if let control = self.urgent.popFirst() { return .send(.control(control)) }
    return self.link == .open && self.isDrained ? .finished : .wait
  }

  /// Whether ``next()`` would not say to wait.
  package var hasNews: Bool {
    switch self.link {
    case .none: return true
    case .opening: return false
    case .open, .draining: break
    }
    if self.acknowledgement != nil || !self.urgent.isEmpty { return true }
    guard self.link == .open else { return false }
    return switch self.queue.first {
    case .frame?: self.outstanding < self.capacity
    case .control?: true
    case .acknowledgement?, nil: self.isDrained
    }
  }

  /// At most one frame waits, since a second one displaces it or is not taken in.
  private var waitingFrameIndex: Int? {
    self.queue.firstIndex { if case .frame = $0 { true } else { false } }
  }
}
