import Synchronization

/// What stands between a session and its writer: outcomes in the order of arrival, a bounded number of
/// pictures, and messages that are never dropped.
package final class Outbox<Payload: Sendable, Control: Sendable>: Sendable {
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
    var lane: CheckedContinuation<Void, Never>?
    var isCancelled = false
  }

  private let state: Mutex<State>
  private let now: @Sendable () -> Duration
  private let discard: @Sendable (Payload, DropReason) -> Void

  /// - Parameters:
  ///   - pictureLimit: Made frames that may wait to be written.
  ///   - backlogLimit: Entries of any kind beyond which ``waitForRoom()`` waits.
  ///   - creditLimit: Frames that may be without outcome.
  ///   - outputWindow: Pictures that may be unacknowledged; `nil` if the client does not acknowledge.
  ///   - now: The session's clock, for pictures that are of no use after some time.
  ///   - discard: Told of each made frame that is not written after all.
  package init(
    pictureLimit: Int, backlogLimit: Int = 256, creditLimit: Int = .max, outputWindow: Int? = nil,
    now: @escaping @Sendable () -> Duration = { .zero },
    discard: @escaping @Sendable (Payload, DropReason) -> Void = { _, _ in }
  ) {
    self.state = Mutex(
      State(
        machine: StateMachine(
          pictureLimit: pictureLimit, backlogLimit: backlogLimit, creditLimit: creditLimit,
          outputWindow: outputWindow)))
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
  package func resolve(_ arrival: UInt64, made frame: FinishedFrame<Payload>) {
    let displaced = self.update { $0.resolve(arrival, made: frame) }
    if let displaced { self.discard(displaced, .outputSuperseded) }
  }

  /// A frame was dropped. Without effect if its fate is decided already.
  package func resolve(_ arrival: UInt64, dropped drop: Drop, lateness: Duration = .zero) {
    self.update { $0.resolve(arrival, dropped: drop, lateness: lateness) }
  }

  /// A message that is no frame's outcome.
  package func push(_ control: Control) {
    self.update { $0.push(control) }
  }

  /// The client has consumed the picture with that number, and all before it.
  package func acknowledge(_ sequence: UInt64) {
    self.update { $0.acknowledge(sequence) }
  }

  /// What was made before a revision is not to be seen any more.
  func discardPictures(before revision: UInt64) {
    let discarded = self.update { $0.discardPictures(before: revision) }
    for payload in discarded { self.discard(payload, .outputSuperseded) }
  }

  /// Nothing is acknowledged any more: what waits for that goes out.
  func openWindow() {
    self.update { $0.openWindow() }
  }

  /// A message that loses nothing by being left out, such as counts or what an analysis saw: left out
  /// while others wait, since a client that does not read would gather them without end.
  func pushNews(_ message: (FrameCounts) -> Control) {
    self.update { machine in
      if machine.hasRoomForNews { machine.push(message(machine.counts)) }
    }
  }

  /// A message of an unknown kind came.
  package func countIgnoredMessage() {
    self.state.withLock { $0.machine.countIgnoredMessage() }
  }

  /// Nothing comes any more: what is in goes out, then the final counts, then ``next()`` ends.
  package func finish() {
    self.update { $0.finish() }
  }

  /// Whoever waits stops waiting, and ``next()`` ends at once. So does cancelling a task that waits.
  package func cancel() {
    let waiting = self.state.withLock { state in
      state.isCancelled = true
      return (state.writer.take(), state.reader.take(), state.lane.take())
    }
    waiting.0?.resume(returning: nil)
    waiting.1?.resume()
    waiting.2?.resume()
  }

  /// What to write next; waits for it. `nil` when there will be nothing any more.
  package func next() async -> Item? {
    await withTaskCancellationHandler {
      await self.nextItem()
    } onCancel: {
      self.cancel()
    }
  }

  private func nextItem() async -> Item? {
    await withCheckedContinuation { continuation in
      var late: [Payload] = []
      let (item, isReady, reader, lane) = self.state.withLock { state in
        guard !state.isCancelled else {
          return (Item?.none, true, state.reader.take(), state.lane.take())
        }
        let next = Self.next(&state.machine, at: self.now(), late: &late)
        let reader = state.machine.hasRoom ? state.reader.take() : nil
        let lane = state.machine.hasRoomForPicture ? state.lane.take() : nil
        switch next {
        case .item(let item): return (item, true, reader, lane)
        case .finished: return (nil, true, reader, lane)
        case .wait, .late:
          state.writer = continuation
          return (nil, false, reader, lane)
        }
      }
      reader?.resume()
      lane?.resume()
      for payload in late { self.discard(payload, .lateOnOutput) }
      if isReady { continuation.resume(returning: item) }
    }
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

  /// Waits until the backlog is short enough for the sender to go on.
  package func waitForRoom() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waits = self.state.withLock { state in
          guard !state.machine.hasRoom, !state.isCancelled else { return false }
          state.reader = continuation
          return true
        }
        if !waits { continuation.resume() }
      }
    } onCancel: {
      self.cancel()
    }
  }

  /// Whether a made frame finds room without displacing another.
  package var hasRoomForPicture: Bool { self.state.withLock { $0.machine.hasRoomForPicture } }

  /// Waits until a made frame finds room without displacing another.
  package func waitForPictureRoom() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waits = self.state.withLock { state in
          guard !state.machine.hasRoomForPicture, !state.isCancelled else { return false }
          state.lane = continuation
          return true
        }
        if !waits { continuation.resume() }
      }
    } onCancel: {
      self.cancel()
    }
  }

  /// Changes the machine, and wakes whoever waits for what that made possible.
  private func update<Result: Sendable>(_ body: (inout StateMachine) -> Result) -> Result {
    var late: [Payload] = []
    let (result, writer, item, lane) = self.state.withLock { state in
      let result = body(&state.machine)
      guard let writer = state.writer.take() else {
        return (
          result, CheckedContinuation<Item?, Never>?.none, Item?.none,
          CheckedContinuation<Void, Never>?.none
        )
      }
      let next = Self.next(&state.machine, at: self.now(), late: &late)
      let lane = state.machine.hasRoomForPicture ? state.lane.take() : nil
      switch next {
      case .item(let item): return (result, writer, item, lane)
      case .finished: return (result, writer, nil, lane)
      case .wait, .late:
        state.writer = writer
        return (result, nil, nil, lane)
      }
    }
    for payload in late { self.discard(payload, .lateOnOutput) }
    lane?.resume()
    writer?.resume(returning: item)
    return result
  }
}
