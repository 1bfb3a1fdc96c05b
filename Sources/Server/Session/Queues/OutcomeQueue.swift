import Synchronization

/// What stands between a session and its writer: outcomes in the order of arrival, a bounded number of
/// pictures, and messages that are never dropped.
package final class OutcomeQueue<Payload: Sendable, Control: Sendable>: Sendable {
  /// What goes out.
  package enum Item: Sendable {
    /// A message that is no frame's outcome.
    case control(Control)
    /// A selection is in force from the frame that follows.
    case applied(Revision, firstSequence: UInt64)
    /// A frame that was made.
    case frame(FinishedFrame<Payload>)
    /// Frames that were not.
    case dropped(DropRun)
    /// The last item.
    case finalCounts(FrameCounts)
  }

  private struct State: ~Copyable {
    var machine: StateMachine
    var writer: CheckedContinuation<Item?, Never>?
    var reader: CheckedContinuation<Void, Never>?
    var worker: CheckedContinuation<Void, Never>?
    var timer: CheckedContinuation<Duration?, Never>?
    /// When the writer is to look again, if nothing else happens.
    var due: Duration?
    var isCancelled = false
  }

  /// Who goes on, and what was lost on the way there. To be done without the lock.
  private struct Wakeups {
    var writer: (continuation: CheckedContinuation<Item?, Never>, item: Item?)?
    var reader: CheckedContinuation<Void, Never>?
    var worker: CheckedContinuation<Void, Never>?
    var timer: (continuation: CheckedContinuation<Duration?, Never>, time: Duration?)?
    var late: [Payload] = []
  }

  private let state: Mutex<State>
  private let now: @Sendable () -> Duration
  private let discard: @Sendable (Payload, DropReason) -> Void

  /// - Parameters:
  ///   - pictureLimit: Made frames that may wait to be written.
  ///   - backlogLimit: Entries of any kind beyond which ``waitForRoom()`` waits.
  ///   - creditLimit: Frames that may be without outcome.
  ///   - outputWindow: Pictures that may be unacknowledged; `nil` if the client does not acknowledge.
  ///   - noticesPerFrame: Frames that gave way of which the client is told, while one is made; at least 1.
  ///   - now: The session's clock, for pictures that are of no use after some time.
  ///   - discard: Told of each made frame that is not written after all.
  package init(
    pictureLimit: Int, backlogLimit: Int = 256, creditLimit: Int = .max, outputWindow: Int? = nil,
    noticesPerFrame: Int = .max, now: @escaping @Sendable () -> Duration = { .zero },
    discard: @escaping @Sendable (Payload, DropReason) -> Void = { _, _ in }
  ) {
    self.state = Mutex(
      State(
        machine: StateMachine(
          pictureLimit: pictureLimit, backlogLimit: backlogLimit, creditLimit: creditLimit,
          outputWindow: outputWindow, noticesPerFrame: noticesPerFrame)))
    self.now = now
    self.discard = discard
  }

  /// What has been counted so far.
  package var counts: FrameCounts { self.state.withLock { $0.machine.counts } }

  /// A frame arrives; its outcome will stand at this place.
  package func reserve(sequence: UInt64, byteCount: Int) -> Reservation {
    self.state.withLock { $0.machine.reserve(sequence: sequence, byteCount: byteCount) }
  }

  /// A frame was made. It may displace another, if too many wait.
  package func resolve(_ arrival: UInt64, finished frame: FinishedFrame<Payload>) {
    let displaced = self.change { $0.resolve(arrival, finished: frame) }
    if let displaced { self.discard(displaced, .outputSuperseded) }
  }

  /// A frame was dropped. Without effect if its fate is decided already.
  package func resolve(_ arrival: UInt64, dropped drop: Drop, lateness: Duration = .zero) {
    self.change { $0.resolve(arrival, dropped: drop, lateness: lateness) }
  }

  /// A message that is no frame's outcome.
  package func push(_ control: Control) {
    self.change { $0.push(control) }
  }

  /// The client has consumed the picture with that number, and all before it.
  package func acknowledge(_ sequence: UInt64) {
    self.change { $0.acknowledge(sequence) }
  }

  /// What was made before a revision is not to be seen any more.
  func discardPictures(before revision: UInt64) {
    let discarded = self.change { $0.discardPictures(before: revision) }
    for payload in discarded { self.discard(payload, .outputSuperseded) }
  }

  /// Nothing is acknowledged any more: what waits for that goes out.
  func openWindow() {
    self.change { $0.openWindow() }
  }

  /// A message that loses nothing by being left out, such as counts or what an analysis saw: left out
  /// while others wait, since a client that does not read would gather them without end.
  func pushNotice(_ message: (FrameCounts) -> Control) {
    self.change { machine in
      if machine.hasNoticeCapacity { machine.push(message(machine.counts)) }
    }
  }

  /// A message of an unknown kind came.
  package func countIgnoredMessage() {
    self.state.withLock { $0.machine.countIgnoredMessage() }
  }

  /// Nothing comes any more: what is in goes out, then the final counts, then ``next()`` ends.
  package func finish() {
    self.change { $0.finish() }
  }

  /// Whoever waits stops waiting, and ``next()`` ends at once. So does cancelling a task that waits.
  package func cancel() {
    self.update { state in state.isCancelled = true }
  }

  /// What to write next; waits for it. `nil` when there will be nothing any more.
  package func next() async -> Item? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        self.update { state in state.writer = continuation }
      }
    } onCancel: {
      self.cancel()
    }
  }

  /// Lets what waits for its time go out when that has come, or up to as much later as it was put forward
  /// meanwhile. Runs until the outbox or the task is cancelled.
  ///
  /// - Parameter wait: Returns after the given time, or when the task is cancelled.
  package func runTimer(_ wait: (Duration) async -> Void) async {
    while let time = await self.nextTime() {
      await wait(time - self.now())
      self.update { _ in }
    }
  }

  private func nextTime() async -> Duration? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        self.update { state in state.timer = continuation }
      }
    } onCancel: {
      self.cancel()
    }
  }

  /// Waits until the backlog is short enough for the sender to go on.
  package func waitForCapacity() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        self.update { state in state.reader = continuation }
      }
    } onCancel: {
      self.cancel()
    }
  }

  /// Whether a made frame finds room without displacing another.
  package var hasPictureCapacity: Bool { self.state.withLock { $0.machine.hasPictureCapacity } }

  /// Waits until a made frame finds room without displacing another.
  package func waitForPictureCapacity() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        self.update { state in state.worker = continuation }
      }
    } onCancel: {
      self.cancel()
    }
  }

  /// Changes the machine, and wakes whoever waits for what that made possible.
  private func change<Result: Sendable>(_ body: (inout StateMachine) -> Result) -> Result {
    self.update { state in body(&state.machine) }
  }

  private func update<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    let (result, wakeups) = self.state.withLock { state in
      let result = body(&state)
      return (result, Self.wakeups(&state, at: self.now))
    }
    for payload in wakeups.late { self.discard(payload, .lateOnOutput) }
    wakeups.reader?.resume()
    wakeups.worker?.resume()
    if let (timer, time) = wakeups.timer { timer.resume(returning: time) }
    if let (writer, item) = wakeups.writer { writer.resume(returning: item) }
    return result
  }

  private static func wakeups(_ state: inout State, at now: () -> Duration) -> Wakeups {
    var wakeups = Wakeups()
    if state.isCancelled {
      wakeups.writer = state.writer.take().map { ($0, nil) }
      wakeups.timer = state.timer.take().map { ($0, nil) }
    } else if let writer = state.writer {
      state.due = nil
      switch Self.next(&state.machine, at: now(), late: &wakeups.late) {
      case .item(let item): wakeups.writer = (writer, item)
      case .finished: wakeups.writer = (writer, nil)
      case .waitUntil(let time): state.due = time
      case .wait, .late: break
      }
      if wakeups.writer != nil { state.writer = nil }
    }
    if let time = state.due, let timer = state.timer.take() {
      wakeups.timer = (timer, time)
    }
    if state.machine.hasCapacity || state.isCancelled { wakeups.reader = state.reader.take() }
    if state.machine.hasPictureCapacity || state.isCancelled { wakeups.worker = state.worker.take() }
    return wakeups
  }

  /// The next item, past pictures that came too late.
  private static func next(
    _ machine: inout StateMachine, at now: Duration, late: inout [Payload]
  ) -> StateMachine.Next {
    while true {
      let next = machine.next(at: now)
      guard case .late(let payload) = next else { return next }
      late.append(payload)
    }
  }
}
