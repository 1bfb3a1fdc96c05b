import BenchmarkClient
import GRPCCore
import Synchronization

/// One session: sends its load over its own connection, and records the results.
final class Participant: Sendable {
  private struct State: ~Copyable {
    var machine: StateMachine
    var writer: CheckedContinuation<StateMachine.Item?, Never>?
  }

  private let load: Load
  private let state: Mutex<State>
  private let clock = ContinuousClock()

  init(_ load: Load) {
    self.load = load
    self.state = Mutex(State(machine: StateMachine(load: load)))
  }

  /// Opens a session, sends from `start` to `end`, and waits until every frame has its outcome.
  ///
  /// - Parameter opened: Called when the session is open; returns the times at which to send.
  func run(
    on connection: Connection, opened: @Sendable @escaping () async throws -> SendSchedule
  ) async throws {
    try await connection.process { writer in
      try await writer.write(self.load.open)
      while let item = await self.next() {
        switch item {
        case .frame(let sequence):
          if self.load.pipeline.changingStage != nil {
            try await writer.write(.select(pipeline: self.load.pipeline.encoded(at: sequence)))
          }
          try await writer.write(.frame(sequence: sequence, image: self.load.picture.encoded))
        case .ping(let id): try await writer.write(.ping(id: id))
        }
      }
    } onResponse: { messages in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for try await message in messages {
          self.update { $0.receive(message, at: self.clock.now) }
          guard case .opened = message else { continue }
          let schedule = try await opened()
          group.addTask { try await self.pace(schedule) }
        }
        try await group.waitForAll()
      }
    }
  }

  /// Returns the results of frames and pings from a window of time.
  func tally(_ window: Range<ContinuousClock.Instant>) -> Tally {
    self.state.withLock { state in
      var tally = Tally()
      tally.strayOutcomes = state.machine.strayOutcomes
      for (given, result) in state.machine.frames {
        switch result {
        case .waiting, .sent: tally.unaccounted += 1
        case .delivered, .dropped: break
        }
        if window.contains(given) { tally.add(result) }
      }
      for (sent, time) in state.machine.pongs where window.contains(sent) {
        // A ping without an answer counts as 60 s.
        tally.pings.append(time ?? .seconds(60))
      }
      return tally
    }
  }

  // MARK: Sending

  private func pace(_ schedule: SendSchedule) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      if case .openLoop(let rate) = self.load.pace {
        group.addTask {
          try await self.every(.seconds(1) / rate, schedule) { $0.offer(at: $1) }
        }
      }
      if self.load.pingsPerSecond > 0 {
        group.addTask {
          try await self.every(.seconds(1) / self.load.pingsPerSecond, schedule) {
            $0.ping(at: $1)
          }
        }
      }
      group.addTask { try await self.clock.sleep(until: schedule.end) }
      while try await group.next() != nil {}
    }
    self.update { $0.finish() }
  }

  private func every(
    _ interval: Duration, _ schedule: SendSchedule,
    _ body: (inout StateMachine, ContinuousClock.Instant) -> Void
  ) async throws {
    // Participants start at different times within an interval, to avoid sending simultaneously.
    var due = schedule.start + interval * schedule.phase
    while due < schedule.end {
      try await self.clock.sleep(until: due, tolerance: .zero)
      self.update { body(&$0, self.clock.now) }
      due += interval
    }
  }

  private func next() async -> StateMachine.Item? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (item, isReady) = self.state.withLock { state in
          guard !Task.isCancelled else { return (StateMachine.Item?.none, true) }
          switch state.machine.next(at: self.clock.now) {
          case .send(let item): return (item, true)
          case .finished: return (nil, true)
          case .wait:
            state.writer = continuation
            return (nil, false)
          }
        }
        if isReady { continuation.resume(returning: item) }
      }
    } onCancel: {
      self.state.withLock { $0.writer.take() }?.resume(returning: nil)
    }
  }

  /// Changes the state machine, and wakes the writer if there is something to send.
  private func update(_ body: (inout StateMachine) -> Void) {
    let (writer, item) = self.state.withLock { state in
      body(&state.machine)
      guard let writer = state.writer.take() else {
        return (CheckedContinuation<StateMachine.Item?, Never>?.none, StateMachine.Item?.none)
      }
      switch state.machine.next(at: self.clock.now) {
      case .send(let item): return (writer, item)
      case .finished: return (writer, nil)
      case .wait:
        state.writer = writer
        return (nil, nil)
      }
    }
    writer?.resume(returning: item)
  }
}
