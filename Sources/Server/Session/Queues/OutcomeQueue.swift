package import SidelightWire
import Synchronization

/// The queue between a session and its writer: a reorder buffer that releases outcomes in the order
/// of arrival, with a bounded number of pictures, and messages that are never dropped.
package final class OutcomeQueue<Payload: Sendable, Control: Sendable>: Sendable {
  /// An item to write.
  package enum Item: Sendable {
    /// A message that is not a frame's outcome.
    case control(Control)
    /// A revision is active from the next frame on.
    case applied(Revision, firstSequence: UInt64)
    case frame(FinishedFrame<Payload>)
    /// Dropped frames.
    case dropped(DropRun)
    /// The counts, as the last item.
    case finalCounts(FrameCounts)
  }

  private struct State: ~Copyable {
    var machine: StateMachine
    var writer: CheckedContinuation<Item?, Never>?
    var reader: CheckedContinuation<Void, Never>?
    var worker: CheckedContinuation<Void, Never>?
    var timer: CheckedContinuation<Duration?, Never>?
    /// The time at which a delayed item can be written, if any.
    var due: Duration?
    var isCancelled = false
  }

  /// The continuations to resume and the late frames to discard, without the lock.
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
  ///   - pictureLimit: The maximum number of finished frames waiting to be written.
  ///   - backlogLimit: The entries of any kind at which ``waitForCapacity()`` waits.
  ///   - creditLimit: The maximum number of frames without an outcome.
  ///   - outputWindow: The maximum number of unacknowledged pictures. `nil` disables the limit.
  ///   - noticesPerFrame: The notices of superseded frames per finished frame, at least 1.
  ///   - now: Returns the time on the session's clock, for deadlines and the pace of notices.
  ///   - discard: Receives the finished frames that will not be written.
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

  /// The counts so far.
  package var counts: FrameCounts { self.state.withLock { $0.machine.counts } }

  /// Adds an entry for the outcome of a frame that arrives.
  package func reserve(sequence: UInt64, byteCount: Int) -> Reservation {
    self.state.withLock { $0.machine.reserve(sequence: sequence, byteCount: byteCount) }
  }

  /// Resolves a frame as finished, which may displace another if too many wait. Has no effect if
  /// the frame is already resolved.
  ///
  /// - Returns: Whether the frame waits to be written.
  @discardableResult
  package func resolve(_ arrival: UInt64, finished frame: FinishedFrame<Payload>) -> Bool {
    let (displaced, isWaiting) = self.change { machine in
      let isPending = machine.isPending(arrival)
      let displaced = machine.resolve(arrival, finished: frame)
      return (displaced, isPending && machine.isWaiting(arrival))
    }
    if let displaced { self.discard(displaced, .outputSuperseded) }
    return isWaiting
  }

  /// Resolves a frame as dropped. Has no effect if the frame is already resolved.
  package func resolve(_ arrival: UInt64, dropped drop: Drop, lateness: Duration = .zero) {
    self.change { $0.resolve(arrival, dropped: drop, lateness: lateness) }
  }

  /// Returns whether a frame that was taken may still be written: no later revision has discarded
  /// its picture.
  package func mayWrite(_ frame: FinishedFrame<Payload>) -> Bool {
    self.state.withLock { $0.machine.mayWrite(frame) }
  }

  /// Drops a frame that was taken to be written.
  ///
  /// - Returns: The notice to write instead.
  package func withdraw(
    _ frame: FinishedFrame<Payload>, as drop: Drop, lateness: Duration = .zero
  ) -> DropRun {
    self.change { $0.withdraw(frame, as: drop, lateness: lateness) }
  }

  /// Counts the bytes of a picture that was encoded when it was written.
  package func countEncoded(byteCount: Int) {
    let now = self.now()
    self.state.withLock { $0.machine.countEncoded(byteCount: byteCount, at: now) }
  }

  /// Returns the values to encode the next picture with: those that the link carries, if the client
  /// acknowledges, and otherwise the wished ones.
  package func adapt(_ wished: EncoderTarget) -> EncoderTarget {
    let now = self.now()
    return self.state.withLock { $0.machine.adapt(wished, at: now) }
  }

  /// Queues a message that is not a frame's outcome.
  package func push(_ control: Control) {
    self.change { $0.push(control) }
  }

  /// Records that the client has consumed a picture and all before it.
  package func acknowledge(_ sequence: UInt64) {
    let now = self.now()
    self.change { $0.acknowledge(sequence, at: now) }
  }

  /// Drops finished frames of earlier revisions, now and later.
  func discardPictures(before revision: UInt64) {
    let discarded = self.change { $0.discardPictures(before: revision) }
    for payload in discarded { self.discard(payload, .outputSuperseded) }
  }

  /// Stops waiting for acknowledgements.
  func openWindow() {
    self.change { $0.openWindow() }
  }

  /// Queues an optional message, such as counts or the result of an analysis. Omits it while others
  /// wait: the queue of a client that does not read would otherwise grow without bound.
  func pushNotice(_ message: (FrameCounts) -> Control) {
    self.change { machine in
      if machine.hasNoticeCapacity { machine.push(message(machine.counts)) }
    }
  }

  /// Counts a message of an unknown kind.
  package func countIgnoredMessage() {
    self.state.withLock { $0.machine.countIgnoredMessage() }
  }

  /// Stops accepting items: the writer gets the remaining items, then the final counts, then
  /// ``next()`` ends.
  package func finish() {
    self.change { $0.finish() }
  }

  /// Resumes all waiting tasks and ends ``next()`` immediately. Cancellation of a waiting task does
  /// the same.
  package func cancel() {
    self.update { state in state.isCancelled = true }
  }

  /// Waits for the next item to write and returns it, or `nil` at the end.
  package func next() async -> Item? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        self.update { state in state.writer = continuation }
      }
    } onCancel: {
      self.cancel()
    }
  }

  /// Releases delayed items at their time. An item whose time is brought forward during a wait is
  /// released when that wait ends. Runs until the queue or the task is cancelled.
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

  /// Waits until the backlog is short enough for the reader to continue.
  package func waitForCapacity() async {
    guard self.state.withLock({ !$0.machine.hasCapacity && !$0.isCancelled }) else { return }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        self.update { state in state.reader = continuation }
      }
    } onCancel: {
      self.cancel()
    }
  }

  /// Whether the backlog is short enough for further frames.
  var hasCapacity: Bool { self.state.withLock { $0.machine.hasCapacity } }

  /// Whether another finished frame fits without displacing one.
  package var hasPictureCapacity: Bool { self.state.withLock { $0.machine.hasPictureCapacity } }

  /// Waits until another finished frame fits without displacing one.
  package func waitForPictureCapacity() async {
    guard self.state.withLock({ !$0.machine.hasPictureCapacity && !$0.isCancelled }) else { return }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        self.update { state in state.worker = continuation }
      }
    } onCancel: {
      self.cancel()
    }
  }

  /// Changes the state machine, then resumes the tasks that can continue.
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
    if state.machine.hasPictureCapacity || state.isCancelled {
      wakeups.worker = state.worker.take()
    }
    return wakeups
  }

  /// Returns the next item, and collects the frames before it that are too late.
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
