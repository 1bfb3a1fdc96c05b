import SidelightKernels
import SidelightWire
import SwiftProtobuf
import Synchronization

/// The conversation with one run of a filter process: its sessions, and the frames that it has.
final class FilterConnection: Sendable {
  /// The process broke a rule of the contract.
  struct Violation: Error, CustomStringConvertible {
    let description: String
  }

  /// The answer to a frame.
  enum Answer: Sendable {
    case result(Sidelight_V1_ProcessMessage.Result)
    case failed(String)
  }

  private enum Phase {
    case opening(since: Duration)
    case open
    case refused(String)
  }

  private struct Session {
    var phase: Phase
    /// The frame that is not answered.
    var frame: UInt64?
    /// Finished when ``frame`` is answered: one for every frame that waits.
    var idle: [Completion] = []
    /// Whether nothing uses the session any more. It ends when its frame is answered.
    var isClosing = false
  }

  /// A frame that the process has. Its memory belongs to the process until the answer.
  private final class PendingFrame: Sendable {
    let session: UInt64
    let blocks: [FilterMemory.Block]
    let answered = Completion()
    let answer = Mutex<Answer?>(nil)

    init(session: UInt64, blocks: [FilterMemory.Block]) {
      self.session = session
      self.blocks = blocks
    }

    func finish(_ answer: Answer) {
      self.answer.withLock { $0 = answer }
      self.answered.finish()
    }
  }

  private struct State {
    var sessions: [UInt64: Session] = [:]
    var frames: [UInt64: PendingFrame] = [:]
    /// The times since which the process can work on the frames: they were sent, and the sessions before
    /// them are open.
    var starts: [UInt64: Duration] = [:]
    var lastNumber: UInt64 = 0
    var lastAnswer = Duration.zero
    /// The messages of unknown kinds in the present second.
    var unknownMessages = (second: Int64(0), count: 0)
    /// The reason of the end.
    var end: String?

    mutating func remove(_ frame: UInt64) -> PendingFrame? {
      self.starts[frame] = nil
      return self.frames.removeValue(forKey: frame)
    }

    mutating func nextNumber() -> UInt64 {
      self.lastNumber += 1
      return self.lastNumber
    }
  }

  /// The limit of the sessions that wait to be opened, whose messages the process may not have read.
  private static let maxOpeningSessions = 1000
  /// The limit of messages of unknown kinds in a second.
  private static let maxUnknownMessages = 1000

  /// The memory that the process maps.
  let memory: FilterMemory
  let outbound: AsyncStream<Sidelight_V1_HostMessage>
  private let messages: AsyncStream<Sidelight_V1_HostMessage>.Continuation
  private let monitor: FilterProcessMonitor
  private let clock: SessionClock
  private let state = Mutex(State())

  init(memory: FilterMemory, monitor: FilterProcessMonitor, clock: SessionClock) {
    self.memory = memory
    self.monitor = monitor
    self.clock = clock
    // Bounded by the sessions: a session has at most one frame, and few other messages.
    (self.outbound, self.messages) = AsyncStream.makeStream()
  }

  /// Ends the conversation. All frames fail with the reason. Later calls have no effect.
  func end(_ reason: String) {
    let (frames, idle) = self.state.withLock { state -> ([PendingFrame], [Completion]) in
      guard state.end == nil else { return ([], []) }
      state.end = reason
      defer { (state.frames, state.starts, state.sessions) = ([:], [:], [:]) }
      return (Array(state.frames.values), state.sessions.values.flatMap(\.idle))
    }
    for frame in frames { frame.finish(.failed(reason)) }
    for idle in idle { idle.finish() }
    self.messages.finish()
  }

  // MARK: Sessions and frames

  /// Opens a session, whose number is never used again.
  ///
  /// - Throws: ``FilterProcessError`` if the process has ended, or has too many sessions to open.
  func open(
    _ filter: String, _ parameters: [String: Sidelight_V1_ParameterValue], label: String
  ) throws(FilterProcessError) -> UInt64 {
    let now = self.clock.now()
    return try self.state.withLock { state throws(FilterProcessError) in
      if let end = state.end { throw FilterProcessError(end) }
      let opening = state.sessions.values.count {
        if case .opening = $0.phase { true } else { false }
      }
      guard opening < Self.maxOpeningSessions else {
        throw FilterProcessError(
          "\(opening) sessions wait to be opened by the filter process, which is the limit")
      }
      let number = state.nextNumber()
      state.sessions[number] = Session(phase: .opening(since: now))
      self.messages.yield(
        .with {
          $0.openSession.session = number
          $0.openSession.filter = filter
          $0.openSession.parameters = parameters
          $0.openSession.label = label
        })
      return number
    }
  }

  /// Closes a session, after the answer to its frame.
  func close(_ number: UInt64) {
    self.state.withLock { state in
      guard state.sessions[number] != nil else { return }
      state.sessions[number]?.isClosing = true
      self.closeIfIdle(number, &state)
    }
  }

  private func closeIfIdle(_ number: UInt64, _ state: inout State) {
    guard let session = state.sessions[number], session.isClosing, session.frame == nil else {
      return
    }
    // The answer to the request to open it is still to come.
    if case .opening = session.phase { return }
    state.sessions[number] = nil
    self.messages.yield(.with { $0.closeSession.session = number })
    if state.sessions.isEmpty { self.memory.releasePages() }
  }

  /// Sends a frame, after the answer to the session's last one, and waits for the answer.
  ///
  /// - Parameters:
  ///   - frame: The message without its number and budget.
  ///   - deadline: The time at which the frame has no use any more. `nil` disables the limit.
  /// - Returns: `nil` if the deadline has passed, or the task was cancelled.
  /// - Throws: ``FilterProcessError`` if the filter failed, or the process has ended.
  func filter(
    _ frame: Sidelight_V1_HostMessage.Frame, _ blocks: [FilterMemory.Block],
    until deadline: Duration?
  ) async throws -> Sidelight_V1_ProcessMessage.Result? {
    do {
      let result = try await self.exchange(frame, blocks, until: deadline)
      self.monitor.count(result == nil ? .late : .filtered)
      return result
    } catch {
      self.monitor.count(self.state.withLock { $0.end == nil } ? .failed : .lost)
      throw error
    }
  }

  private func exchange(
    _ frame: Sidelight_V1_HostMessage.Frame, _ blocks: [FilterMemory.Block],
    until deadline: Duration?
  ) async throws -> Sidelight_V1_ProcessMessage.Result? {
    enum Step {
      case wait(Completion)
      case sent(PendingFrame, UInt64)
    }
    while true {
      let now = self.clock.now()
      if Task.isCancelled || deadline.map({ $0 <= now }) == true { return nil }
      let step = try self.state.withLock { state throws(FilterProcessError) -> Step in
        if let end = state.end { throw FilterProcessError(end) }
        guard let session = state.sessions[frame.session] else {
          throw FilterProcessError("the session of the filter has ended")
        }
        if case .refused(let message) = session.phase { throw FilterProcessError(message) }
        if session.frame != nil {
          let idle = Completion()
          state.sessions[frame.session]?.idle.append(idle)
          return .wait(idle)
        }
        let number = state.nextNumber()
        let pending = PendingFrame(session: frame.session, blocks: blocks)
        state.frames[number] = pending
        state.starts[number] = now
        state.sessions[frame.session]?.frame = number
        var message = Sidelight_V1_HostMessage()
        message.frame = frame
        message.frame.frame = number
        message.frame.budgetUs = deadline.map { UInt64(max(1, ($0 - now) / .microseconds(1))) } ?? 0
        self.messages.yield(message)
        return .sent(pending, number)
      }
      switch step {
      case .wait(let idle): await self.wait(for: idle, until: deadline)
      case .sent(let pending, let number):
        await self.wait(for: pending.answered, until: deadline)
        switch pending.answer.withLock(\.self) {
        case .result(let result)?: return result
        case .failed(let message)?: throw FilterProcessError(message)
        case nil:
          self.state.withLock { state in
            guard state.frames[number] != nil else { return }
            _ = self.messages.yield(.with { $0.cancel.frame = number })
          }
          return nil
        }
      }
    }
  }

  private func wait(for completion: Completion, until deadline: Duration?) async {
    await withTaskCancellationHandler {
      guard let deadline else { return await completion.wait() }
      _ = await completion.wait(atMost: max(.zero, deadline - self.clock.now()), on: self.clock)
    } onCancel: {
      completion.finish()
    }
  }

  // MARK: Messages of the process

  /// Receives a message.
  ///
  /// - Returns: Lines for the log, if any.
  /// - Throws: ``Violation``.
  func receive(_ message: Sidelight_V1_ProcessMessage) throws(Violation) -> String? {
    switch message.kind {
    case .hello?: throw Violation(description: "hello came twice")
    case .opened(let opened)?:
      try self.answer(session: opened.session, .open)
      return nil
    case .refused(let refused)?:
      let message = refused.message.clippedToLine
      try self.answer(session: refused.session, .refused(message))
      return Self.lines(message, refused.detail)
    case .result(let result)?:
      try self.answer(result.frame, .result(result))
      return nil
    case .failed(let failed)?:
      let message = failed.message.clippedToLine
      try self.answer(failed.frame, .failed(message))
      return Self.lines(message, failed.detail)
    case nil:
      let second = self.clock.now().components.seconds
      let count = self.state.withLock { state in
        let unknown = state.unknownMessages
        state.unknownMessages = (second, unknown.second == second ? unknown.count + 1 : 1)
        return state.unknownMessages.count
      }
      if count > Self.maxUnknownMessages {
        throw Violation(description: "it sent \(count) messages of unknown kinds in a second")
      }
      return nil
    }
  }

  private static func lines(_ message: String, _ detail: String) -> String {
    detail.isEmpty ? message : detail.clipped(toBytes: 64 << 10)
  }

  private func answer(session number: UInt64, _ phase: Phase) throws(Violation) {
    let now = self.clock.now()
    let (frame, idle): (PendingFrame?, [Completion]) = try self.state.withLock {
      state throws(Violation) in
      if state.end != nil { return (nil, []) }
      guard let session = state.sessions[number], case .opening = session.phase else {
        throw Violation(description: "session \(number) does not wait for an answer")
      }
      state.lastAnswer = now
      state.sessions[number]?.phase = phase
      for frame in state.frames.keys where frame > number { state.starts[frame] = now }
      guard case .refused = phase else {
        self.closeIfIdle(number, &state)
        return (nil, [])
      }
      let frame = session.frame.flatMap { state.remove($0) }
      state.sessions[number]?.frame = nil
      state.sessions[number]?.idle = []
      self.closeIfIdle(number, &state)
      return (frame, session.idle)
    }
    if case .refused(let message) = phase { frame?.finish(.failed(message)) }
    for idle in idle { idle.finish() }
  }

  private func answer(_ number: UInt64, _ answer: Answer) throws(Violation) {
    let now = self.clock.now()
    let (frame, idle): (PendingFrame?, [Completion]) = try self.state.withLock {
      state throws(Violation) in
      if state.end != nil { return (nil, []) }
      guard let frame = state.remove(number) else {
        throw Violation(description: "frame \(number) does not wait for an answer")
      }
      state.lastAnswer = now
      let idle = state.sessions[frame.session]?.idle ?? []
      state.sessions[frame.session]?.frame = nil
      state.sessions[frame.session]?.idle = []
      self.closeIfIdle(frame.session, &state)
      return (frame, idle)
    }
    frame?.finish(answer)
    for idle in idle { idle.finish() }
  }

  // MARK: Supervision

  var hasFrames: Bool { self.state.withLock { !$0.frames.isEmpty } }

  /// Returns the reason why the process counts as hung; `nil` if it doesn't.
  ///
  /// - Parameters:
  ///   - limit: The time in which a process with frames answers one of them.
  ///   - frameLimit: The time in which it answers every frame.
  ///   - openingLimit: The time in which it opens a session. Later frames may wait for it.
  func hang(limit: Duration, frameLimit: Duration, openingLimit: Duration) -> String? {
    let now = self.clock.now()
    return self.state.withLock { state in
      var firstOpening = UInt64.max
      for (number, session) in state.sessions {
        guard case .opening(let since) = session.phase else { continue }
        firstOpening = min(firstOpening, number)
        if now - since > openingLimit { return "it has not opened a session for \(openingLimit)" }
      }
      guard let start = state.starts.lazy.filter({ $0.key < firstOpening }).map(\.value).min()
      else {
        return nil
      }
      if now - max(start, state.lastAnswer) > limit {
        return "it has not answered a frame for \(limit)"
      }
      return now - start > frameLimit
        ? "it has not answered one of its frames for \(frameLimit)" : nil
    }
  }
}

extension String {
  /// The first line, of at most 1 KiB.
  var clippedToLine: String {
    let line = self.split(whereSeparator: \.isNewline).first.map(String.init) ?? "no message"
    return line.clipped(toBytes: 1024)
  }
}
