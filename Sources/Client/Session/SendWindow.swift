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
/// Frames of encoded video on which others depend are not replaced: they wait together, up to a
/// limit. Beyond it all of them are dropped, and all frames after them up to the next key frame. A
/// server without time drops the disposable ones first; then most of them are left out here, where
/// they cost it nothing.
///
/// States of the link: none -> opening -> open -> draining -> none. Any state can return to none,
/// and opening follows again; ``move(capacity:first:)`` leads from open or draining to open on
/// another connection. ``finish()`` refuses further frames in any state.
package struct SendWindow<PendingFrame: Sendable, Control: Sendable>: Sendable {
  /// A message that waits to be sent.
  package enum Element: Sendable {
    /// A frame. With a dependency it depends on the frame of that number instead of the one before
    /// it, which was not sent.
    case frame(PendingFrame, dependency: UInt64?)
    case control(Control)
    /// The pictures up to that number have been consumed.
    case acknowledgement(UInt64)
  }

  private enum Waiting {
    case frame(PendingFrame, UInt64, StreamRole, mustProcess: Bool)
    case control(Control)
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

  /// The number of frames on which others depend that may wait: a quarter of a second at 30 frames
  /// a second.
  package static var referenceLimit: Int { 8 }

  private let policy: SessionOptions.DropPolicy
  private var queue: Deque<Waiting> = []
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
  /// The reason why frames that depend on others are not sent before the next key frame, if any.
  private var missing: KeyFrameReason?
  /// Whether the last offered frame is encoded video.
  private var isStream = false
  /// The last frame that was sent, and the last one on which others depend.
  private var sent: (last: UInt64, reference: UInt64) = (0, 0)
  private var disposables = DisposableFrameTrial()

  package init(policy: SessionOptions.DropPolicy) {
    self.policy = policy
  }

  // MARK: Offering

  /// The answer to an offered frame.
  package enum Offer: Sendable {
    /// Accepted under this number; the frames that it replaces are dropped, or the frame itself.
    case accept(UInt64, displaced: [PendingFrame])
    /// Accepted under this number, but not sent because the client is disconnected.
    case disconnected(UInt64)
    /// Accepted under this number, but not sent because it depends on a frame that was not. The
    /// frames that wait are dropped too.
    case undecodable(UInt64, KeyFrameReason, displaced: [PendingFrame])
    /// Another frame waits, and frames may not be dropped.
    case wait
    /// Further frames are refused.
    case refuse
  }

  /// Offers a frame.
  ///
  /// - Parameters:
  ///   - role: Its place among the frames that depend on each other.
  ///   - mustProcess: Whether it is not left out while the server has no time.
  ///   - make: Creates the frame from its number, if it is accepted.
  package mutating func offer(
    as role: StreamRole = .independent, mustProcess: Bool = false,
    _ make: (UInt64) -> PendingFrame
  ) -> Offer {
    guard !self.isFinished else { return .refuse }
    let sequence = self.nextSequence
    guard self.policy == .newestWins else {
      guard self.waitingFrameIndex == nil else { return .wait }
      self.nextSequence += 1
      self.queue.append(.frame(make(sequence), sequence, role, mustProcess: mustProcess))
      return .accept(sequence, displaced: [])
    }
    self.nextSequence += 1
    self.isStream = role != .independent
    guard self.link == .open else {
      if role == .keyFrame || role == .reference { self.missing = .start }
      return .disconnected(sequence)
    }
    switch role {
    case .independent: break
    case .keyFrame: self.missing = nil
    case .reference, .disposable:
      if let missing { return .undecodable(sequence, missing, displaced: []) }
      if role == .reference, self.waitingReferences >= Self.referenceLimit {
        self.missing = .loss
        return .undecodable(sequence, .loss, displaced: self.removeFrames { _ in true })
      }
      if role == .disposable, !mustProcess, self.disposables.leavesOut() {
        return .accept(sequence, displaced: [make(sequence)])
      }
    }
    // The frames before a key frame are not needed after it.
    let displaced = self.removeFrames {
      role == .keyFrame || $0 == .independent || $0 == .disposable
    }
    self.queue.append(.frame(make(sequence), sequence, role, mustProcess: mustProcess))
    return .accept(sequence, displaced: displaced)
  }

  private var waitingReferences: Int {
    self.queue.count {
      if case .frame(_, _, .keyFrame, _) = $0 { return true }
      if case .frame(_, _, .reference, _) = $0 { return true }
      return false
    }
  }

  /// Removes waiting frames by their roles, and returns them.
  private mutating func removeFrames(where isWanted: (StreamRole) -> Bool) -> [PendingFrame] {
    var removed: [PendingFrame] = []
    self.queue.removeAll { element in
      guard case .frame(let frame, _, let role, _) = element, isWanted(role) else { return false }
      removed.append(frame)
      return true
    }
    return removed
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

  /// Records the server's decision about a frame.
  ///
  /// - Parameter reason: The reason why it was dropped; `nil` if it came back.
  package mutating func recordOutcome(of sequence: UInt64, dropped reason: DropReason? = nil) {
    self.disposables.recordOutcome(of: sequence, dropped: reason)
  }

  /// Records the time that a frame and its picture were on the way, without the server's.
  package mutating func recordTransit(_ time: Duration, at now: Duration) {
    self.flight.record(time, at: now)
  }

  /// Whether another frame may be sent. Sessions that may drop frames keep fewer in flight where
  /// more would only be older. Encoded video does not: its sender adapts the bit rate, and the time
  /// that a lost packet costs is not a queue.
  private var hasCredit: Bool {
    let limit =
      self.policy == .newestWins && !self.isStream ? self.flight.frames : self.capacity
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
    self.disposables = DisposableFrameTrial()
    for control in controls.reversed() { self.queue.prepend(.control(control)) }
  }

  /// The number of the first frame that is not sent.
  package var firstUnsent: UInt64 {
    for case .frame(_, let sequence, _, _) in self.queue { return sequence }
    return self.nextSequence
  }

  /// Whether another connection can take the place of this one without losing a frame: the next frame
  /// doesn't depend on earlier ones. Always while this one is draining.
  package var canMove: Bool {
    self.link == .draining || (self.link == .open && !self.isDrained && self.startsAnew)
  }

  private var startsAnew: Bool {
    for case .frame(_, _, let role, _) in self.queue {
      return role == .keyFrame || role == .independent
    }
    return !self.isStream
  }

  /// Records that another open connection takes the place of this one.
  ///
  /// - Parameters:
  ///   - capacity: The number of frames that the server grants, at least 1.
  ///   - controls: Messages that are sent before all others.
  /// - Returns: The waiting frames that depend on earlier ones. They are removed.
  package mutating func move(
    capacity: Int, first controls: [Control] = []
  ) -> [PendingFrame] {
    var undecodable: [PendingFrame] = []
    if !self.startsAnew, self.policy == .newestWins {
      self.missing = .start
      undecodable = self.removeFrames { _ in true }
    }
    self.open(capacity: capacity, first: controls)
    return undecodable
  }

  /// Records that the server stops accepting frames.
  package mutating func drain() {
    if self.link == .open { self.link = .draining }
  }

  /// The messages left behind by a lost connection.
  package struct UnsentMessages: Sendable {
    /// The first unused number: earlier frames were in flight, except those that waited.
    package var nextSequence: UInt64
    /// The numbers of the frames that waited to be sent.
    package var waiting: [UInt64] = []
    /// Whether they wait for the next connection.
    package var isKept: Bool
    /// Messages that waited and are removed.
    package var controls: [Control]
  }

  /// Records that the connection is lost. If frames may be dropped, the queue is not kept for the
  /// next connection.
  ///
  /// - Parameter isRepeated: Returns whether a new connection begins with a newer message than this.
  package mutating func close(
    discarding isRepeated: (Control) -> Bool = { _ in false }
  ) -> UnsentMessages {
    self.link = .none
    self.urgent = []
    self.acknowledgement = nil
    var unsent = UnsentMessages(
      nextSequence: self.nextSequence, isKept: self.policy != .newestWins && !self.isAbandoned,
      controls: [])
    for element in self.queue {
      switch element {
      case .frame(_, let sequence, _, _): unsent.waiting.append(sequence)
      case .control(let control): unsent.controls.append(control)
      }
    }
    if unsent.isKept {
      unsent.controls = []
      self.queue.removeAll { element in
        if case .control(let control) = element { isRepeated(control) } else { false }
      }
    } else {
      self.queue = []
    }
    // A decoder of the next connection has no pictures.
    if self.policy == .newestWins { self.missing = .start }
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
  ///
  /// - Parameter holds: Whether controls wait, and the frames after them, for another connection.
  package mutating func next(holdingControls holds: Bool = false) -> Next {
    switch self.link {
    case .none: return .finished
    case .opening: return .wait
    case .open, .draining: break
    }
    if let sequence = self.acknowledgement.take() { return .send(.acknowledgement(sequence)) }
    switch self.queue.first {
    case .frame(let frame, let sequence, let role, let mustProcess)?
    where self.link == .open && self.hasCredit:
      self.queue.removeFirst()
      self.outstanding += 1
      if role == .disposable, !mustProcess { self.disposables.recordSent(sequence) }
      return .send(.frame(frame, dependency: self.recordSent(sequence, role)))
    case .control(let control)? where self.link == .open && !holds:
      self.queue.removeFirst()
      return .send(.control(control))
    default: break
    }
    if let control = self.urgent.popFirst() { return .send(.control(control)) }
    return self.link == .open && self.isDrained ? .finished : .wait
  }

  /// Returns the frame on which a frame depends, if it is not the one before it.
  private mutating func recordSent(_ sequence: UInt64, _ role: StreamRole) -> UInt64? {
    let (last, reference) = self.sent
    self.sent.last = sequence
    if role == .keyFrame || role == .reference { self.sent.reference = sequence }
    let isPredicted = role == .reference || role == .disposable
    return isPredicted && last + 1 != sequence && reference > 0 ? reference : nil
  }

  /// Whether ``next(holdingControls:)`` returns something other than `wait`.
  package func isReady(holdingControls holds: Bool = false) -> Bool {
    switch self.link {
    case .none: return true
    case .opening: return false
    case .open, .draining: break
    }
    if self.acknowledgement != nil || !self.urgent.isEmpty { return true }
    guard self.link == .open else { return false }
    return switch self.queue.first {
    case .frame?: self.hasCredit
    case .control?: !holds
    case nil: self.isDrained
    }
  }

  /// The index of the first waiting frame.
  private var waitingFrameIndex: Int? {
    self.queue.firstIndex { if case .frame = $0 { true } else { false } }
  }
}

/// Decides which disposable frames are sent: after one that the server had no time for, 1, 2, 4 up to
/// 16 are left out before the next one is tried. One that comes back ends it. Frames that must be
/// processed are always sent, and are not tried: they come back from a busy server too.
private struct DisposableFrameTrial: Sendable {
  private static let maxInterval = 16

  /// The frame whose outcome decides about the next ones; `nil` if none was sent.
  private var tried: UInt64?
  /// The frames that are left out after that outcome, and those that remain.
  private var interval = 0
  private var remaining = 0

  /// Returns whether the next frame is left out.
  mutating func leavesOut() -> Bool {
    guard self.remaining > 0 else { return false }
    self.remaining -= 1
    return true
  }

  mutating func recordSent(_ sequence: UInt64) {
    self.tried = self.tried ?? sequence
  }

  mutating func recordOutcome(of sequence: UInt64, dropped reason: DropReason?) {
    guard sequence == self.tried else { return }
    self.tried = nil
    switch reason {
    case .superseded, .queueFull, .lateOnArrival, .lateInPipeline, .lateOnOutput, .noCredit:
      self.interval = min(max(1, self.interval * 2), Self.maxInterval)
    default: self.interval = 0
    }
    self.remaining = self.interval
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
