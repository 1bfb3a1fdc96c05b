import Foundation
import Logging
import SidelightWire
import Synchronization

/// The processes of one command, over which sessions are spread.
///
/// A reload starts new processes. They replace the running ones when all have attached, at the next
/// frame of every session; if they fail, the running ones stay.
final class FilterProcessGroup: Sendable {
  private struct State {
    /// The processes that serve sessions.
    var serving: [FilterProcess]
    /// All processes whose programs may attach.
    var all: [FilterProcess]
  }

  let command: String
  let monitor: FilterProcessMonitor
  private let logger: Logger
  private let clock: SessionClock
  private let make: @Sendable () -> [FilterProcess]
  private let state: Mutex<State>
  private let reloads: AsyncStream<Void>
  private let requests: AsyncStream<Void>.Continuation

  /// The interval at which the files of the command are looked at.
  private static let watchInterval = Duration.milliseconds(500)
  /// The time in which a replaced process answers its last frames.
  private static let drainTime = Duration.seconds(2)

  /// - Parameter make: Returns new processes, at least one.
  init(
    _ command: String, monitor: FilterProcessMonitor, logger: Logger, clock: SessionClock,
    make: @escaping @Sendable () -> [FilterProcess]
  ) {
    self.command = command
    self.monitor = monitor
    self.logger = logger
    self.clock = clock
    self.make = make
    let first = make()
    self.state = Mutex(State(serving: first, all: first))
    // One request is enough for changes that arrive during a reload.
    (self.reloads, self.requests) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  func isServing(_ process: FilterProcess) -> Bool {
    self.state.withLock { $0.serving.contains { $0 === process } }
  }

  /// The process with the fewest sessions, if possible one that is attached.
  var leastUsed: FilterProcess {
    let all = self.state.withLock(\.serving)
    let attached = all.filter(\.isAttached)
    let serving = attached.isEmpty ? all : attached
    return serving.dropFirst().reduce(serving[0]) { least, process in
      process.sessionCount < least.sessionCount ? process : least
    }
  }

  /// The names of the filters, with the reason why no process serves them at present; `nil` if one
  /// does.
  var filterOutages: [String: String?] {
    let serving = self.state.withLock(\.serving)
    let reasons = serving.compactMap(\.outage)
    let reason = reasons.count == serving.count ? reasons[0] : nil
    return Dictionary(uniqueKeysWithValues: serving[0].knownOffers.map { ($0.name, reason) })
  }

  /// The process that a token belongs to.
  func process(with token: String) -> FilterProcess? {
    self.state.withLock { $0.all.first { $0.accepts(token) } }
  }

  /// The filters. Waits until the first processes have attached.
  ///
  /// - Throws: ``FilterProcessError`` if one did not start, or if they differ.
  func offers() async throws(FilterProcessError) -> [FilterOffer] {
    try await Self.offers(of: self.state.withLock(\.serving), self.command)
  }

  private static func offers(
    of processes: [FilterProcess], _ command: String
  ) async throws(FilterProcessError) -> [FilterOffer] {
    let offers = try await processes[0].offers()
    for other in processes.dropFirst() where try await other.offers() != offers {
      throw FilterProcessError("the processes of '\(command)' offer different filters")
    }
    return offers
  }

  /// Starts new processes, which replace the running ones.
  func reload() { self.requests.yield() }

  /// Runs the processes until the task is cancelled.
  ///
  /// - Parameter watches: Whether a change of the command's files reloads.
  func run(watches: Bool) async {
    await withTaskGroup(of: Void.self) { group in
      for process in self.state.withLock(\.serving) { group.addTask { await process.run() } }
      if watches { group.addTask { await self.watch() } }
      for await _ in self.reloads {
        let fresh = self.make()
        self.state.withLock { $0.all += fresh }
        for process in fresh { group.addTask { await process.run() } }
        await self.replace(with: fresh)
      }
      group.cancelAll()
    }
  }

  private func replace(with fresh: [FilterProcess]) async {
    let retired: [FilterProcess]
    do throws(FilterProcessError) {
      let before = try await self.offers()
      guard try await Self.offers(of: fresh, self.command) == before else {
        throw FilterProcessError("its filters or parameters have changed: restart the server")
      }
      retired = self.state.withLock { state in
        defer { state.serving = fresh }
        return state.serving
      }
      self.logger.notice("filter process reloaded", metadata: ["process": "\(self.command)"])
    } catch {
      self.logger.error(
        "filter process not reloaded",
        metadata: ["process": "\(self.command)", "reason": "\(error)"])
      retired = fresh
    }
    for process in retired { await process.stop(within: Self.drainTime) }
    self.state.withLock { state in
      state.all.removeAll { process in retired.contains { $0 === process } }
    }
  }

  /// Reloads when a file changes that the command names.
  private func watch() async {
    let files = self.command.words
    func times() -> [Date?] {
      files.map { file in
        let attributes = try? FileManager.default.attributesOfItem(atPath: file)
        return attributes?[.type] as? FileAttributeType == .typeRegular
          ? attributes?[.modificationDate] as? Date : nil
      }
    }
    var known = times()
    while !Task.isCancelled {
      await self.clock.wait(Self.watchInterval)
      let now = times()
      if now != known { self.reload() }
      known = now
    }
  }
}
