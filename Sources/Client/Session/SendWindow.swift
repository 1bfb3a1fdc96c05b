import DequeModule
import SidelightWire

/// The messages that wait to be sent: frames wait for a credit, and the newest replaces the one
/// that waits. A pure state machine.
///
/// Credits bound the number of frames in flight. Bytes alone would not: flow-control windows that
/// are sized for raw frames hold seconds of compressed ones.
///
/// Messages are sent in order, so a selection applies to the frames after it. A frame at the head
/// waits for a credit; a newer frame replaces it. Acknowledgements and pings overtake it.
///
/// States of the link: none -> opening -> open -> draining -> none. Any state can return to none,
/// and opening follows again. ``finish()`` refuses further frames in any state.
package struct SendWindow<PendingFrame: Sendable, Control: Sendable>: Sendable {
  /// A message that waits to be sent.
  package enum Element: Sendable {
    case frame(PendingFrame)
    case control(Control)
    /// The pictures up to that number have been consumed.
    case acknowledgement(UInt64)
  }

  private enum Link {
    /// Disconnected.
    case none
    /// A connection is being opened. Messages are not sent yet.
    case opening
    /// Messages are sent.
    case open
    /// Frames in flight finish; further frames are not sent.
    case draining
  }

  private let policy: SessionOptions.DropPolicy
  private var queue: Deque<Element> = []
  private var urgent: Deque<Control> = []
  private var acknowledgement: UInt64?
  private var link = Link.none
  /// The number of frames whose outcome may be missing or not yet taken.
  private var capacity = 0
  private var outstanding = 0
  /// Lowers ``capacity`` where more frames in flight would only wait on the way.
  private var flight = FlightLimit(capacity: 1)
  private var isFinished = false
  private var isAbandoned = false
  private var nextSequence: UInt64 = 1

  package init(policy: SessionOptions.DropPolicy) {
    self.policy = policy
  }

  // MARK: Offering

  /// The answer to an offered frame.
  package enum Offer: Sendable {
    /// Accepted under this number; the frame that waited, if any, is replaced.
    case accept(UInt64, displaced: PendingFrame?)
    /// Accepted under this number, but not sent because the client is disconnected.
    case disconnected(UInt64)
    /// Another frame waits, and frames may not be dropped.
    case wait
    /// Further frames are refused.
    case refuse
  }

  /// Offers a frame.
  ///
  /// - Parameter make: Creates the frame from its number, if it is accepted.
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

  /// Whether an offered frame is accepted or refused without waiting.
  package var hasAnswer: Bool {
    self.isFinished || self.policy == .newestWins || self.waitingFrameIndex == nil
  }

  /// Adds a message after the waiting ones.
  package mutating func push(_ control: Control) {
    guard !self.isFinished else { return }
    self.queue.append(.control(control))
  }

  /// Adds a message that overtakes a waiting frame. Has no effect while disconnected.
  package mutating func pushUrgent(_ control: Control) {
    guard self.link == .open || self.link == .draining else { return }
    self.urgent.append(control)
  }

  /// Acknowledges consumed pictures. Only the newest acknowledgement is sent.
  package mutating func acknowledge(_ sequence: UInt64) {
    self.acknowledgement = max(self.acknowledgement ?? 0, sequence)
  }

  /// Returns the credits of outcomes that were taken.
  package mutating func returnCredits(_ count: Int) {
    self.outstanding = max(0, self.outstanding - count)
  }

  /// Records the time that a frame and its picture were on the way, without the server's.
  package mutating func recordTransit(_ time: Duration, at now: Duration) {
    self.flight.record(time, at: now)
  }

  /// Whether another frame may be sent. Sessions that may drop frames keep fewer in flight where
  /// more would only be older.
  private var hasCredit: Bool {
    let limit = self.policy == .newestWins ? self.flight.frames : self.capacity
    return self.outstanding < limit
  }

  /// Whether an offered frame is sent at once.
  package var sendsAtOnce: Bool {
    self.link == .open && !self.isFinished && self.waitingFrameIndex == nil && self.hasCredit
  }

  /// Refuses further frames and messages; waiting ones are still sent.
  package mutating func finish() {
    self.isFinished = true
  }

  /// Whether further messages are refused and all accepted ones are sent.
  package var isDrained: Bool { self.isFinished && self.queue.isEmpty }

  /// Whether the connection is open and accepts frames.
  package var isOpen: Bool { self.link == .open }

  /// Whether messages wait for the next connection while disconnected.
  package var keepsForNextLink: Bool { self.policy != .newestWins }

  // MARK: The link

  /// Records that a connection is being opened.
  package mutating func startOpening() {
    self.link = .opening
  }

  /// Records that the connection is open.
  ///
  /// - Parameters:
  ///   - capacity: The number of frames that the server grants, at least 1.
  ///   - controls: Messages that are sent before all others.
  package mutating func open(capacity: Int, first controls: [Control] = []) {
    self.link = .open
    self.capacity = max(1, capacity)
    self.flight = FlightLimit(capacity: self.capacity)
    for control in controls.reversed() { self.queue.prepend(.control(control)) }
  }

  /// Records that the server stops accepting frames.
  package mutating func drain() {
    if self.link == .open { self.link = .draining }
  }

  /// The messages left behind by a lost connection.
  package struct UnsentMessages: Sendable {
    /// The first unused number: earlier frames were in flight, except the one that waited.
    package var nextSequence: UInt64
    /// The frame that waited to be sent.
    package var waiting: PendingFrame?
    /// Whether it waits for the next connection.
    package var isKept: Bool
    /// Messages that waited and are removed.
    package var controls: [Control]
  }

  /// Records that the connection is lost. If frames may be dropped, the queue is not kept for the
  /// next connection.
  package mutating func close() -> UnsentMessages {
    self.link = .none
    self.urgent = []
    self.acknowledgement = nil
    var unsent = UnsentMessages(
      nextSequence: self.nextSequence, isKept: self.policy != .newestWins && !self.isAbandoned,
      controls: [])
    for element in self.queue {
      switch element {
      case .frame(let frame): unsent.waiting = frame
      case .control(let control): unsent.controls.append(control)
      case .acknowledgement: break
      }
    }
    if unsent.isKept { unsent.controls = [] } else { self.queue = [] }
    return unsent
  }

  /// Refuses further messages and discards waiting ones when the link closes.
  package mutating func abandon() {
    self.isFinished = true
    self.isAbandoned = true
  }

  // MARK: Sending

  /// The next step of the connection's writer.
  package enum Next: Sendable {
    case send(Element)
    case wait
    /// Disconnected, or all messages are sent.
    case finished
  }

  /// Returns the next message.
  package mutating func next() -> Next {
    switch self.link {
    case .none: return .finished
    case .opening: return .wait
    case .open, .draining: break
    }
    if let sequence = self.acknowledgement.take() { return .send(.acknowledgement(sequence)) }
    switch self.queue.first {
    case .frame? where self.link == .open && self.hasCredit:
      self.outstanding += 1
      return .send(self.queue.removeFirst())
    case .control? where self.link == .open: return .send(self.queue.removeFirst())
    default: break
    }
    if let control = self.urgent.popFirst() { return .send(.control(control)) }
    return self.link == .open && self.isDrained ? .finished : .wait
  }

  /// Whether ``next()`` returns something other than `wait`.
  package var isReady: Bool {
    switch self.link {
    case .none: return true
    case .opening: return false
    case .open, .draining: break
    }
    if self.acknowledgement != nil || !self.urgent.isEmpty { return true }
    guard self.link == .open else { return false }
    return switch self.queue.first {
    case .frame?: self.hasCredit
    case .control?: true
    case .acknowledgement?, nil: self.isDrained
    }
  }

  /// The index of the only waiting frame: a second one replaces it or is refused.
  private var waitingFrameIndex: Int? {
    self.queue.firstIndex { if case .frame = $0 { true } else { false } }
  }
}

/// Limits the frames in flight to as many as shorten the wait for the next picture. More frames
/// only wait on the way, and delay the frames and pings behind them.
///
/// After TCP Vegas (Brakmo, Peterson, 1995), with frames instead of bytes. The time on the way is
/// the time from sending a frame until its picture arrives, less the time that the server had it.
/// With `limit` frames in flight, `limit * (1 - shortest time / time)` of them wait on the way.
/// More than one lowers the limit; less than a half, or a wait of less than 5 ms, raises it, up to
/// the server's grant.
package struct FlightLimit: Sendable {
  /// The change per picture.
  private static let step = 0.25
  /// The longest wait on the way that doesn't lower the limit.
  private static let tolerance = Duration.milliseconds(5)
  /// The time after which a shortest time is forgotten, because the path may have changed.
  private static let memory = Duration.seconds(10)

  private let capacity: Double
  private var limit: Double
  /// The shortest time of the last 10 to 20 s, in two halves.
  private var shortest: (older: Duration?, newer: Duration?, since: Duration?)

  /// - Parameter capacity: The number of frames that the server grants, at least 1.
  package init(capacity: Int) {
    self.capacity = Double(max(1, capacity))
    self.limit = self.capacity
  }

  /// The number of frames that may be in flight, at least 1.
  package var frames: Int { Int(self.limit) }

  /// Records the time that a frame and its picture were on the way.
  ///
  /// - Parameters:
  ///   - time: The time without the server's.
  ///   - now: The time of arrival.
  package mutating func record(_ time: Duration, at now: Duration) {
    let time = max(time, .microseconds(1))
    if let since = self.shortest.since, now - since < Self.memory {
      self.shortest.newer = min(self.shortest.newer ?? time, time)
    } else {
      self.shortest = (older: self.shortest.newer, newer: time, since: now)
    }
    let base = min(self.shortest.newer ?? time, self.shortest.older ?? time)
    let waiting = time - base < Self.tolerance ? 0 : self.limit * (1 - base / time)
    if waiting > 1 {
      self.limit = max(1, self.limit - Self.step)
    } else if waiting < 0.5 {
      self.limit = min(self.capacity, self.limit + Self.step)
    }
  }
}
