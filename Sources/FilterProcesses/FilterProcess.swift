import CFilterProcess
import Foundation
import Logging
import SidelightKernels
import SidelightWire
import Synchronization

/// A command that serves filters. It runs until the host ends, and is started again when it ends.
final class FilterProcess: Sendable {
  private enum Phase {
    /// Waits for the process to attach. The reason is the last run's end.
    case starting(last: String?)
    case attached(FilterConnection)
  }

  private struct State {
    var phase = Phase.starting(last: nil)
    /// The secret and the memory of the present run.
    var run: (token: String, memory: FilterMemory)?
    var child: ChildProcess?
    /// The time after which the present run's child is killed, if that was decided before it was known.
    var killDelay: TimeInterval?
    /// The filters, once the first run has attached.
    var offers: [FilterOffer] = []
    /// The error of the first run.
    var startError: FilterProcessError?
    var lastLine = ""
    /// The lines of its output in the present second.
    var lines = (second: Int64(0), count: 0)
    /// The reason for which the host ends the run.
    var kill: (reason: String, kind: FilterProcessMonitor.RestartReason)?
    /// Whether other processes have replaced it.
    var isStopped = false

    var connection: FilterConnection? {
      if case .attached(let connection) = self.phase { connection } else { nil }
    }

    /// Kills the present run's child unless it ends by itself within a time; a child that is not known
    /// yet once it is.
    mutating func endChild(after time: TimeInterval) {
      if let child = self.child {
        child.kill(after: time)
      } else {
        self.killDelay = min(time, self.killDelay ?? time)
      }
    }
  }

  /// The waits before another start.
  private static let restartDelays = (first: Duration.milliseconds(100), last: Duration.seconds(10))
  /// The time after which a run counts as successful.
  private static let stableTime = Duration.seconds(3)
  /// The time in which a run attaches, or opens a session.
  private static let openingLimit = Duration.seconds(30)
  /// The time in which a process that has frames answers one of them.
  private static let answerLimit = Duration.seconds(2)
  /// The time in which it answers every frame.
  private static let frameLimit = Duration.seconds(10)
  private static let checkInterval = Duration.milliseconds(100)
  /// The maximum number of lines of its output and messages in a second of the log.
  private static let maxLinesPerSecond = 200

  /// The command of the shell.
  let command: String
  let clock: SessionClock
  let monitor: FilterProcessMonitor
  private let folder: FilterProcessFolder
  private let logger: Logger
  private let started = Completion()
  private let sessions = Atomic<Int>(0)
  private let state = Mutex(State())

  /// - Parameter folder: The host's folder, with its socket.
  init(
    _ command: String, folder: FilterProcessFolder, monitor: FilterProcessMonitor, logger: Logger,
    clock: SessionClock
  ) {
    self.command = command
    self.folder = folder
    self.clock = clock
    self.monitor = monitor
    var logger = logger
    logger[metadataKey: "process"] = "\(command.clipped(toBytes: 200))"
    self.logger = logger
  }

  /// The number of uses of its filters by sessions.
  var sessionCount: Int { self.sessions.load(ordering: .relaxed) }

  /// The filters, if the first run has attached.
  var knownOffers: [FilterOffer] { self.state.withLock(\.offers) }

  func addSessions(_ count: Int) { self.sessions.add(count, ordering: .relaxed) }

  /// The filters of the process. Waits until the first run has attached.
  ///
  /// - Throws: ``FilterProcessError`` if it ended before.
  func offers() async throws(FilterProcessError) -> [FilterOffer] {
    await self.started.wait()
    return try self.state.withLock { state throws(FilterProcessError) in
      if let error = state.startError { throw error }
      return state.offers
    }
  }

  /// Whether the process serves its filters at present.
  var isAttached: Bool { self.state.withLock { $0.connection != nil } }

  /// The reason why the process serves no filters at present; `nil` if it does.
  var outage: String? {
    do throws(FilterProcessError) {
      _ = try self.connection()
      return nil
    } catch {
      return error.description
    }
  }

  /// The conversation with the process, for a frame.
  ///
  /// - Throws: ``FilterProcessError`` while it is started again. The frame then counts as lost.
  func connectionForFrame() throws(FilterProcessError) -> FilterConnection {
    do throws(FilterProcessError) {
      return try self.connection()
    } catch {
      self.monitor.count(.lost)
      throw error
    }
  }

  /// The conversation with the process.
  ///
  /// - Throws: ``FilterProcessError`` while it is started again.
  func connection() throws(FilterProcessError) -> FilterConnection {
    try self.state.withLock { state throws(FilterProcessError) in
      switch state.phase {
      case .attached(let connection): return connection
      case .starting(let last):
        throw FilterProcessError(
          "the filter process is being started again" + (last.map { ", after \($0)" } ?? ""))
      }
    }
  }

  // MARK: Runs

  /// Runs the process until the task is cancelled. Returns if the first run doesn't attach.
  func run() async {
    var delay = Self.restartDelays.first
    self.monitor.add(starting: 1)
    defer { self.monitor.add(starting: -1) }
    while !Task.isCancelled {
      let start = self.clock.now()
      let end: String
      do throws(FilterProcessError) {
        end = try await self.runOnce()
      } catch {
        end = "\(error)"
      }
      let hasStarted = self.started.isFinished
      guard !self.state.withLock(\.isStopped) else { return self.started.finish() }
      guard hasStarted, !Task.isCancelled else {
        self.state.withLock { state in
          let line = state.lastLine.isEmpty ? "" : ": \(state.lastLine)"
          state.startError =
            state.startError
            ?? FilterProcessError(
              "the filter process '\(self.command)' did not start; \(end)\(line)")
        }
        return self.started.finish()
      }
      if self.clock.now() - start > Self.stableTime { delay = Self.restartDelays.first }
      self.monitor.count(self.state.withLock { $0.kill?.kind } ?? .ended)
      self.logger.error(
        "filter process ended", metadata: ["reason": "\(end)", "restart": "\(delay)"])
      await self.clock.wait(delay)
      delay = min(delay * 2, Self.restartDelays.last)
    }
  }

  /// Runs the process once.
  ///
  /// - Returns: The end, as a clause.
  private func runOnce() async throws(FilterProcessError) -> String {
    let memory = try FilterMemory()
    let token = (0 ..< 4).map { _ in String(UInt64.random(in: 0 ... .max), radix: 16) }.joined()
    let isStopped = self.state.withLock { state in
      state.run = (token, memory)
      state.kill = nil
      state.killDelay = nil
      state.lastLine = ""
      return state.isStopped
    }
    if isStopped { throw FilterProcessError("other processes have replaced it") }
    // The server's settings, and so its secrets, are not for the process.
    let inherited = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("SIDELIGHT_") }
    let own = FilterProcessUser.take()
    defer { own?.release() }
    let canRun = own?.canRun(self.command) ?? false
    let user = canRun ? own : nil
    let directory = try self.folder.makeWorkingDirectory(for: user)
    defer { cfp_remove(directory) }
    // Programs look for their user's name, which the system does not know.
    let names = user.map { ["USER": "\($0.id)", "LOGNAME": "\($0.id)"] } ?? [:]
    let child = try await ChildProcess.start(
      // If the system runs out of memory, it ends this process before the host. Before exec, the file
      // belongs to root, because the host's memory is hidden.
      "echo 500 2>/dev/null >/proc/self/oom_score_adj; exec \(self.command.withAbsolutePaths)",
      environment: inherited.merging(names) { $1 }.merging([
        "HOME": user == nil ? inherited["HOME"] ?? directory : directory, "TMPDIR": directory,
        "SIDELIGHT_FILTER_SOCKET": self.folder.socket, "SIDELIGHT_FILTER_TOKEN": token,
        "SIDELIGHT_FILTER_MEMORY": "3", "PYTHONUNBUFFERED": "1",
        // Backtraces of traps take seconds, in which the process does not start again.
        "SWIFT_BACKTRACE": inherited["SWIFT_BACKTRACE"] ?? "enable=no",
      ]) { $1 }, in: directory, as: user, memory: memory.descriptor
    ) { line in
      self.state.withLock { $0.lastLine = line }
      self.log([line], as: .notice)
    }
    self.state.withLock { state in
      state.child = child
      if let delay = state.killDelay { child.kill(after: delay) }
    }
    self.logger.info(
      "filter process started",
      metadata: [
        "pid": "\(child.id)", "network": child.sharesNetwork ? "shared" : "none",
        "user": "\(child.user.map { "\($0.id)" } ?? NSUserName())",
      ])
    if FilterProcessUser.isNeeded, child.user == nil {
      let reason =
        own == nil
        ? "no other user is left"
        : canRun
          ? "the system permits no other user" : "other users cannot read its program or files"
      self.logger.warning(
        "filter process runs as root, without capabilities", metadata: ["reason": "\(reason)"])
    }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.watch(child) }
      await withTaskCancellationHandler {
        await child.ended.wait()
      } onCancel: {
        self.detach("the server stops")
        child.kill(after: 2)
      }
      group.cancelAll()
    }
    let end = child.reap()
    _ = await child.outputEnded.wait(atMost: .seconds(1), on: self.clock)
    let reason = self.state.withLock { state in
      state.child = nil
      state.run = nil
      return state.kill?.reason ?? end
    }
    self.detach("the filter process has ended: \(reason)", last: reason)
    return reason
  }

  /// Logs lines of the output or of messages, unless there are too many.
  private func log(_ lines: [String], as level: Logger.Level) {
    let second = self.clock.now().components.seconds
    let (first, last) = self.state.withLock { state -> (Int, Int) in
      let first = state.lines.second == second ? state.lines.count : 0
      state.lines = (second, first + lines.count)
      return (first, state.lines.count)
    }
    let text = lines.prefix(max(0, Self.maxLinesPerSecond - first)).joined(separator: "\n")
    if !text.isEmpty { self.logger.log(level: level, "\(text)") }
    if first <= Self.maxLinesPerSecond, last > Self.maxLinesPerSecond {
      self.logger.warning("further lines of the filter process are left out in this second")
    }
  }

  /// Ends a run that hangs.
  private func watch(_ child: ChildProcess) async {
    let start = self.clock.now()
    var (hasAttached, wasStopped) = (false, false)
    while !Task.isCancelled {
      await self.clock.wait(Self.checkInterval)
      let connection = try? self.connection()
      hasAttached = hasAttached || connection != nil
      guard let connection else {
        if !hasAttached, self.clock.now() - start > Self.openingLimit {
          self.kill("it has not attached for \(Self.openingLimit)")
        }
        continue
      }
      let reason = connection.hang(
        limit: Self.answerLimit, frameLimit: Self.frameLimit, openingLimit: Self.openingLimit)
      if let reason {
        self.kill(reason)
      }
      // A process that a signal has stopped cannot answer. One check later, to leave alone a process
      // that continues at once.
      let isStopped = connection.hasFrames && child.isStopped
      if isStopped, wasStopped { self.kill("a signal has stopped it") }
      wasStopped = isStopped
    }
  }

  /// Kills the present run.
  ///
  /// - Parameter connection: The conversation of the run to kill; `nil` for any.
  private func kill(
    _ reason: String, _ kind: FilterProcessMonitor.RestartReason = .hung,
    in connection: FilterConnection? = nil
  ) {
    let isFirst = self.state.withLock { state in
      guard state.kill == nil, connection == nil || state.connection === connection else {
        return false
      }
      state.kill = (reason, kind)
      return true
    }
    guard isFirst else { return }
    self.logger.error("filter process is killed", metadata: ["reason": "\(reason)"])
    self.detach("the filter process was killed: \(reason)", last: reason)
    self.state.withLock { $0.endChild(after: 0) }
  }

  /// Ends the process for good, once it has answered its frames.
  ///
  /// - Parameter limit: The time for the answers.
  func stop(within limit: Duration) async {
    self.state.withLock { $0.isStopped = true }
    let start = self.clock.now()
    while let connection = try? self.connection(), connection.hasFrames, !Task.isCancelled,
      self.clock.now() - start < limit
    {
      await self.clock.wait(.milliseconds(10))
    }
    self.detach("the filter process was replaced")
    self.state.withLock { $0.endChild(after: 2) }
  }

  /// Ends the conversation with the process.
  private func detach(_ reason: String, last: String? = nil) {
    let connection = self.state.withLock { state -> FilterConnection? in
      guard case .attached(let connection) = state.phase else { return nil }
      state.phase = .starting(last: last ?? reason)
      return connection
    }
    guard let connection else { return }
    connection.end(reason)
    self.monitor.add(attached: -1, starting: 1)
  }

  // MARK: The call

  /// Whether a token belongs to the present run.
  func accepts(_ token: String) -> Bool { self.state.withLock { $0.run?.token == token } }

  /// Attaches the present run.
  ///
  /// - Returns: The conversation, and the size of the memory.
  /// - Throws: ``FilterProcessError`` if an offer is invalid, or differs from the first run's.
  func attach(
    _ hello: Sidelight_V1_ProcessMessage.Hello
  ) throws(FilterProcessError) -> FilterConnection {
    do throws(FilterProcessError) {
      guard hello.versions.contains(1) else {
        throw FilterProcessError("this server knows version 1 of the contract only")
      }
      guard (1 ... 64).contains(hello.filters.count) else {
        throw FilterProcessError("it offers \(hello.filters.count) filters; it must offer 1 to 64")
      }
      var offers: [FilterOffer] = []
      for filter in hello.filters { offers.append(try FilterOffer(filter)) }
      if let twice = offers.map(\.name).firstDuplicate {
        throw FilterProcessError("it offers '\(twice)' twice")
      }
      let connection = try self.adopt(offers)
      self.monitor.add(attached: 1, starting: -1)
      self.logger.info(
        "filter process attached",
        metadata: [
          "filters": "\(offers.map(\.name).joined(separator: " "))",
          "library": "\(hello.library.clipped(toBytes: 100))",
        ])
      self.started.finish()
      return connection
    } catch {
      self.state.withLock { state in
        guard !self.started.isFinished else { return }
        state.startError = FilterProcessError("the filter process '\(self.command)': \(error)")
      }
      throw error
    }
  }

  private func adopt(_ offers: [FilterOffer]) throws(FilterProcessError) -> FilterConnection {
    try self.state.withLock { state throws(FilterProcessError) in
      guard let run = state.run, state.kill == nil else {
        throw FilterProcessError("the run has ended")
      }
      if case .attached = state.phase { throw FilterProcessError("it has attached already") }
      guard state.offers.isEmpty || state.offers == offers else {
        throw FilterProcessError("its filters differ from the ones at the start of the server")
      }
      state.offers = offers
      let connection = FilterConnection(
        memory: run.memory, monitor: self.monitor, clock: self.clock)
      state.phase = .attached(connection)
      return connection
    }
  }

  /// Receives a message. A message that breaks a rule ends the run.
  func receive(_ message: Sidelight_V1_ProcessMessage, on connection: FilterConnection) {
    do throws(FilterConnection.Violation) {
      if let lines = try connection.receive(message) {
        self.log(
          lines.split(whereSeparator: \.isNewline).map {
            String($0).clipped(toBytes: ChildProcess.maxLineBytes)
          }, as: .warning)
      }
    } catch {
      self.kill("it broke a rule of the contract: \(error)", .contract, in: connection)
    }
  }

  /// Ends the run of a call that has ended. A process that ends by itself, which states the reason,
  /// has ended its call shortly before.
  func callEnded(_ connection: FilterConnection) {
    self.state.withLock { state in
      if state.connection === connection { state.endChild(after: 0.5) }
    }
  }
}

extension String {
  /// The words of the shell's command, without quotes, and their ranges with quotes.
  private var quotedWords: [(range: Range<String.Index>, text: Substring)] {
    self.matches(of: /'([^']*)'|"([^"]*)"|([^ '"]+)/).map { match in
      (match.range, match.1 ?? match.2 ?? match.3 ?? "")
    }
  }

  /// The words of the shell's command, without quotes.
  var words: [String] { self.quotedWords.map { String($0.text) } }

  /// The shell's command with absolute paths of files and folders, because the process has a working
  /// directory of its own.
  var withAbsolutePaths: String {
    let folder = FileManager.default.currentDirectoryPath
    var command = self
    for (range, path) in self.quotedWords.reversed() {
      // The shell finds a program that is named without a folder.
      let isPath = range.lowerBound > self.startIndex || path.contains("/")
      guard isPath, !path.isEmpty, !path.hasPrefix("/"), !path.contains("'"),
        FileManager.default.fileExists(atPath: String(path))
      else { continue }
      command.replaceSubrange(range, with: "'\(folder)/\(path)'")
    }
    return command
  }
}

extension [String] {
  fileprivate var firstDuplicate: String? {
    var known: Set<String> = []
    return self.first { !known.insert($0).inserted }
  }
}
