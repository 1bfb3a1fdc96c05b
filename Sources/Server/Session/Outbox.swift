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

  /// - Parameters:
  ///   - pictureLimit: Made frames that may wait to be written.
  ///   - backlogLimit: Entries of any kind beyond which ``waitForRoom()`` waits.
  package init(pictureLimit: Int, backlogLimit: Int = 256) {
    self.state = Mutex(
      State(machine: StateMachine(pictureLimit: pictureLimit, backlogLimit: backlogLimit)))
  }

  /// What has been counted so far.
  package var counts: FrameCounts { self.state.withLock { $0.machine.counts } }

  /// A frame arrives; its outcome will stand at this place.
  ///
  /// - Returns: The number by which it is resolved.
  package func reserve(sequence: UInt64, byteCount: Int) -> UInt64 {
    self.state.withLock { $0.machine.reserve(sequence: sequence, byteCount: byteCount) }
  }

  /// A frame was made.
  ///
  /// - Returns: The frame that it displaced, if too many wait.
  package func resolve(_ arrival: UInt64, made frame: FinishedFrame<Payload>) -> Payload? {
    self.update { $0.resolve(arrival, made: frame) }
  }

  /// A frame was dropped.
  package func resolve(_ arrival: UInt64, dropped drop: Drop) {
    self.update { $0.resolve(arrival, dropped: drop) }
  }

  /// A message that is no frame's outcome.
  package func push(_ control: Control) {
    self.update { $0.push(control) }
  }

  /// Tells what has been counted so far; not while another message waits, since a client that does
  /// not read would gather counts without end.
  func pushCounts(_ message: (FrameCounts) -> Control) {
    self.update { machine in
      if machine.isQuiet { machine.push(message(machine.counts)) }
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
      let (item, ready, reader, lane) = self.state.withLock { state in
        guard !state.isCancelled else {
          return (Item?.none, true, state.reader.take(), state.lane.take())
        }
        let next = state.machine.next()
        let reader = state.machine.hasRoom ? state.reader.take() : nil
        let lane = state.machine.hasRoomForPicture ? state.lane.take() : nil
        switch next {
        case .item(let item): return (item, true, reader, lane)
        case .finished: return (nil, true, reader, lane)
        case .wait:
          state.writer = continuation
          return (nil, false, reader, lane)
        }
      }
      reader?.resume()
      lane?.resume()
      if ready { continuation.resume(returning: item) }
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

  /// Changes the machine, and wakes the writer if there is something for it.
  private func update<Result: Sendable>(_ body: (inout StateMachine) -> Result) -> Result {
    let (result, writer, item) = self.state.withLock { state in
      let result = body(&state.machine)
      guard let writer = state.writer.take() else {
        return (result, CheckedContinuation<Item?, Never>?.none, Item?.none)
      }
      switch state.machine.next() {
      case .item(let item): return (result, writer, item)
      case .finished: return (result, writer, nil)
      case .wait:
        state.writer = writer
        return (result, nil, nil)
      }
    }
    writer?.resume(returning: item)
    return result
  }
}
