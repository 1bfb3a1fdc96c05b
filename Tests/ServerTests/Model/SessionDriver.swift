import GRPCCore
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Synchronization

/// Plays a script to a server, and checks every message using the model.
final class SessionDriver: Sendable {
  /// The time without a message in either direction after which a session of tiny frames counts as
  /// stuck. The total time depends on the machine.
  private static let hangTimeout = Duration.seconds(60)

  private let script: ModelScript
  private let model: Mutex<SessionModel>
  private let synchronizer = StepSynchronizer()
  private let ring = ModelRing()
  private let (resets, resetContinuation) = AsyncStream<Never>.makeStream()

  init(_ script: ModelScript, for configuration: ServerConfiguration) {
    self.script = script
    self.model = Mutex(
      SessionModel(
        opening: script.opening, framesInFlight: configuration.framesInFlight,
        maxConsecutiveErrors: configuration.maxConsecutiveErrors))
  }

  /// Plays the script to its end.
  ///
  /// - Returns: The model's state at the end.
  /// - Throws: ``SessionModel/Violation`` if the server violates the model.
  func play(to stub: Stub) async throws -> SessionModel {
    let isDone = try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        try await self.run(to: stub)
        return true
      }
      group.addTask {
        for await _ in self.resets {}
        return false
      }
      group.addTask {
        var before: Int
        repeat {
          before = self.progress
          try await Task.sleep(for: Self.hangTimeout)
        } while self.progress > before
        throw self.hung
      }
      defer { group.cancelAll() }
      return try await group.next() ?? true
    }
    if !isDone, self.script.ending != .reset { throw self.hung }
    return self.model.withLock { model in
      model.slotCounts = self.ring.counts
      return model
    }
  }

  /// A count that grows with every step and received message.
  private var progress: Int { self.synchronizer.currentStep + self.synchronizer.readCount }

  /// The error of a session that does not end.
  private var hung: SessionModel.Violation {
    let (step, count) = (self.synchronizer.currentStep, self.script.steps.count)
    let state = self.model.withLock { model in
      "\(model.outstanding) of \(model.frames.count) frames without outcome, "
        + "\(model.controls.count) answers due, \(model.unacknowledged.count) unacknowledged"
    }
    return SessionModel.Violation(
      description: "hung at step \(step) of \(count), then \(self.script.ending): \(state); "
        + "patient: \(self.script.isPatient); \(self.script.opening)")
  }

  private func run(to stub: Stub) async throws {
    let started = ContinuousClock.now
    do {
      try await stub.process(options: largeMessages) { writer in
        try await self.send(to: writer)
      } onResponse: { response in
        defer { self.synchronizer.stopReading() }
        for try await message in response.messages {
          // Under one lock, to prevent a picture from being acknowledged before the model has
          // received it.
          try self.model.withLock { try $0.receive(try self.ring.take(message)) }
          self.synchronizer.notify()
          await self.synchronizer.pauseIfRequested()
        }
      }
    } catch let error as RPCError {
      return try self.check(error)
    }
    let seconds = started.duration(to: .now) / .seconds(1)
    try self.model.withLock { try $0.endWell(after: seconds) }
  }

  /// Checks that the client provoked the error of a call.
  private func check(_ error: RPCError) throws {
    let expected: RPCError.Code? =
      if self.model.withLock({ $0.hasTooManyErrors }) {
        .invalidArgument
      } else {
        switch self.script.ending {
        case .secondOpen: .failedPrecondition
        case .emptyMessage: .invalidArgument
        case .reset: error.code  // by our own doing
        case .halfClose: nil
        }
      }
    guard error.code == expected else {
      throw SessionModel.Violation(description: "the call ended with \(error)")
    }
  }

  // MARK: Sending

  private func send(to writer: RPCWriter<Sidelight_V1_ClientMessage>) async throws {
    defer { self.synchronizer.stopSending() }
    try await writer.write(self.script.opening.message)
    for step in self.script.steps {
      self.synchronizer.step()
      if self.script.acknowledgesAtOnce { try await self.acknowledge(writer) }
      switch step {
      case .pauseReading(let steps): self.synchronizer.pauseReader(steps: steps)
      case .settle: try await self.wait(writer) { $0.outstanding == 0 }
      case .frame where self.script.isPatient:
        try await self.wait(writer) { $0.outstanding < $0.framesInFlight }
      default: break
      }
      if let message = self.model.withLock({ $0.send(step) }) {
        try await writer.write(self.ring.put(message, isSound: step.isSound))
      }
      if self.model.withLock({ $0.hasTooManyErrors }) { return await self.waitForEnd() }
    }
    switch self.script.ending {
    case .halfClose: self.model.withLock { $0.isClosing = true }
    case .reset:
      self.resetContinuation.finish()
      await self.waitForEnd()
      // A return would close this side in order first.
      throw CancellationError()
    case .secondOpen:
      try await writer.write(self.script.opening.message)
      await self.waitForEnd()
    case .emptyMessage:
      try await writer.write(Sidelight_V1_ClientMessage())
      await self.waitForEnd()
    }
  }

  private func acknowledge(_ writer: RPCWriter<Sidelight_V1_ClientMessage>) async throws {
    let message = self.model.withLock { $0.acknowledge() ?? self.ring.acknowledgement() }
    if let message { try await writer.write(message) }
  }

  private func wait(
    _ writer: RPCWriter<Sidelight_V1_ClientMessage>,
    until condition: (SessionModel) -> Bool
  ) async throws {
    while !self.model.withLock({ condition($0) }) {
      try await self.acknowledge(writer)
      guard await self.synchronizer.waitForMessage() else { return }
    }
  }

  private func waitForEnd() async {
    self.synchronizer.stopSending()
    while await self.synchronizer.waitForMessage() {}
  }
}

extension ModelScript.Opening {
  fileprivate var message: Sidelight_V1_ClientMessage {
    .open(self.pipeline.pipeline, policy: self.dropPolicy.wire) {
      $0.mailboxDepth = UInt32(self.mailboxDepth)
      $0.budgetUs = self.budget
      $0.allowUnmodified = self.allowUnmodified
      $0.analysisOnly = self.analysisOnly
      $0.failurePolicy = Sidelight_V1_FailurePolicy(self.failurePolicy)
      $0.maxFps = self.maxFPS
      if self.hasStatsInterval { $0.statsInterval.nanos = 100_000_000 }
      $0.outputWindow = UInt32(self.outputWindow)
      guard self.slots > 0 else { return }
      $0.sharedMemory.slotBytes = 1 << 16
      $0.sharedMemory.inputSlots = self.slots
      $0.sharedMemory.outputSlots = self.slots
    }
  }
}

extension ModelScript.DropPolicy {
  fileprivate var wire: Sidelight_V1_DropPolicy {
    switch self {
    case .newestWins: .newestWins
    case .keepOldest: .keepOldest
    case .neverDrop: .neverDrop
    }
  }
}
