import CFilterProcess
import Foundation
import GRPCCore
public import Logging
public import Metrics
public import SidelightKernels
public import SidelightScene
import SidelightTransport
import SidelightWire
import SwiftProtobuf

/// The filter processes of a server or a command, and the service that they attach to.
public final class FilterProcessHost: Sendable {
  /// The processes, by command.
  private let groups: [FilterProcessGroup]
  /// An element for starts and ends of processes.
  private let changes: AsyncStream<Void>

  private init(_ groups: [FilterProcessGroup], changes: AsyncStream<Void>) {
    self.groups = groups
    self.changes = changes
  }

  /// Starts filter processes, calls `body`, and ends the processes.
  ///
  /// - Parameters:
  ///   - commands: The commands, for the shell. Without commands only `body` is called.
  ///   - count: The processes of every command, at least 1, over which sessions are spread.
  ///   - reloads: Whether a change of a file that a command names restarts its processes.
  ///   - metrics: The metrics factory. `nil` disables metrics.
  ///   - logger: Receives the processes' output, errors and ends.
  ///   - body: Called once all processes have described their filters.
  /// - Throws: ``FilterProcessError`` if a process does not start; the error of `body`.
  public static func with<Result: Sendable>(
    _ commands: [String], count: Int = 1, reloads: Bool = false,
    metrics: (any MetricsFactory)? = nil, logger: Logger,
    isolation: isolated (any Actor)? = #isolation,
    _ body: (FilterProcessHost) async throws -> Result
  ) async throws -> Result {
    // One element is enough: the reader looks at the present state.
    let (changes, changed) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    guard !commands.isEmpty else {
      return try await body(FilterProcessHost([], changes: changes))
    }
    // Processes that have this one's user could read its memory, with tokens and keys, otherwise.
    if !FilterProcessUser.isNeeded { cfp_hide_memory() }
    let folder = try FilterProcessFolder()
    defer { folder.remove() }
    let groups = commands.map { command in
      let monitor = FilterProcessMonitor(
        command, factory: metrics ?? NOOPMetricsHandler.instance, changes: changed)
      return FilterProcessGroup(command, monitor: monitor, logger: logger, clock: .system) {
        (0 ..< max(1, count)).map { _ in
          FilterProcess(
            command, folder: folder, monitor: monitor, logger: logger, clock: .system)
        }
      }
    }
    var transport = TransportConfiguration()
    transport.maxMessageBytes = 1 << 20
    let guards = Guards(
      configuration: GuardConfiguration(), maxMessageBytes: transport.maxMessageBytes,
      counters: ConnectionCounters(logger: logger))
    let listener = Listener(
      Listener.Socket(address: .unix(path: folder.socket), unixSocketPermissions: 0o600),
      transport: transport, guards: guards, services: [FilterHostService(groups: groups)])
    return try await withThrowingTaskGroup(of: Void.self) { group in
      defer { group.cancelAll() }
      group.addTask {
        try await EventLoops.with(1) { try await listener.serve(on: $0) }
      }
      _ = try await listener.boundAddress
      folder.shareSocket()
      // The processes end before the service, to see the end of their calls.
      return try await withThrowingTaskGroup(of: Void.self) { runs in
        defer { runs.cancelAll() }
        for group in groups { runs.addTask { await group.run(watches: reloads) } }
        for group in groups { _ = try await group.offers() }
        return try await body(FilterProcessHost(groups, changes: changes))
      }
    }
  }

  /// Returns the processes' sources of mattes, by name.
  ///
  /// - Throws: ``FilterProcessError`` if two mattes have the same name.
  public func mattes() async throws -> [String: @Sendable () -> any MatteSource] {
    var mattes: [String: @Sendable () -> any MatteSource] = [:]
    for filter in try await self.tools() {
      guard case .matte(let size) = filter.offer.result else { continue }
      guard mattes[filter.offer.name] == nil else {
        throw FilterProcessError("two filter processes offer the matte '\(filter.offer.name)'")
      }
      mattes[filter.offer.name] = { RemoteMatteSource(filter, size) }
    }
    return mattes
  }

  /// Returns the face finder of the processes and its name; `nil` if they don't find faces.
  ///
  /// - Throws: ``FilterProcessError`` if they offer several.
  public func faceFinder() async throws -> (name: String, make: @Sendable () -> any FaceFinder)? {
    let finders = try await self.tools().filter { $0.offer.result == .faces }
    guard let finder = finders.first else { return nil }
    guard finders.count == 1 else {
      let names = finders.map { "'\($0.offer.name)'" }.joined(separator: " and ")
      throw FilterProcessError("the filter processes offer the face finders \(names); keep one")
    }
    return (finder.offer.name, { RemoteFaceFinder(finder) })
  }

  /// The mattes and face finders, which other filters use.
  private func tools() async throws -> [RemoteFilter] {
    var tools: [RemoteFilter] = []
    for group in self.groups {
      for offer in try await group.offers() where !offer.result.isFilter {
        tools.append(
          RemoteFilter(processes: group, offer: offer, arguments: Arguments(values: [:])))
      }
    }
    return tools
  }

  /// Adds the processes' filters to a catalogue.
  ///
  /// - Throws: ``FilterProcessError`` if two filters have the same name.
  public func register(in catalogue: inout FilterCatalogue) async throws {
    for group in self.groups {
      for offer in try await group.offers() where offer.result.isFilter {
        let known = catalogue.allDescriptions.contains { $0.name == offer.name }
        guard !known, catalogue.entry(named: offer.name) == nil else {
          throw FilterProcessError(
            "the filter process '\(group.command)' offers '\(offer.name)', which is a filter "
              + "already; give it another name")
        }
        catalogue.register(offer.description) { arguments in
          RemoteFilter(processes: group, offer: offer, arguments: arguments)
        }
      }
    }
  }
}

extension FilterProcessHost {
  /// The names of all filters, mattes and face finders, with the reason why no process serves them
  /// at present; `nil` for those that are served.
  public var filterOutages: [String: String?] {
    self.groups.reduce(into: [:]) { $0.merge($1.filterOutages) { one, _ in one } }
  }

  /// Reports ``filterOutages`` after changes, until the task is cancelled. Call it once.
  public func reportFilterOutages(_ report: ([String: String?]) -> Void) async {
    for await _ in self.changes { report(self.filterOutages) }
  }

  /// Starts new processes of all commands, which replace the running ones when they have attached.
  public func reload() {
    for group in self.groups { group.reload() }
  }
}

/// Implements the service that processes attach to.
private struct FilterHostService: Sidelight_V1_FilterHost.SimpleServiceProtocol {
  let groups: [FilterProcessGroup]

  func attach(
    request: RPCAsyncSequence<Sidelight_V1_ProcessMessage, any Error>,
    response: RPCWriter<Sidelight_V1_HostMessage>, context: ServerContext
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      var (attached, connected): (FilterProcess?, FilterConnection?)
      let (ready, found) = AsyncStream<(FilterProcess, FilterConnection)>.makeStream()
      group.addTask {
        defer { found.finish() }
        var current: (process: FilterProcess, connection: FilterConnection)?
        // Reading ends with an error if the call is cancelled or the connection is lost.
        do {
          for try await message in request {
            if let current {
              current.process.receive(message, on: current.connection)
              continue
            }
            let pair = try self.attach(message)
            current = pair
            found.yield(pair)
          }
        } catch {
          guard current != nil else { throw error }
        }
        if let current { current.process.callEnded(current.connection) }
      }
      for await (process, connection) in ready {
        (attached, connected) = (process, connection)
        break
      }
      guard let attached, let connected else { return try await group.waitForAll() }
      do {
        try await response.write(
          .with {
            $0.welcome.version = 1
            $0.welcome.memoryBytes = UInt64(FilterMemory.byteCount)
          })
        for await message in connected.outbound { try await response.write(message) }
      } catch {
        attached.callEnded(connected)
      }
      group.cancelAll()
    }
  }

  private func attach(
    _ message: Sidelight_V1_ProcessMessage
  ) throws -> (process: FilterProcess, connection: FilterConnection) {
    guard case .hello(let hello)? = message.kind else {
      throw RPCError(code: .failedPrecondition, message: "hello must be the first message")
    }
    guard let process = self.groups.lazy.compactMap({ $0.process(with: hello.token) }).first else {
      throw RPCError(code: .unauthenticated, message: "no filter process has this token")
    }
    do throws(FilterProcessError) {
      return (process, try process.attach(hello))
    } catch {
      throw RPCError(code: .invalidArgument, message: error.description)
    }
  }
}

/// A folder for the socket and the processes' working directories, which only their user can use.
struct FilterProcessFolder: Sendable {
  let path: String
  var socket: String { "\(self.path)/host.sock" }

  /// - Throws: ``FilterProcessError``.
  init() throws(FilterProcessError) {
    var template = Array("/tmp/sidelight-filters-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw FilterProcessError("no folder can be made in /tmp: \(systemText(errno))")
    }
    self.path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    // Other users have to enter it, and cannot list it.
    if FilterProcessUser.isNeeded { chmod(self.path, 0o711) }
  }

  /// Shares the socket with the users of processes, if they have some.
  func shareSocket() {
    guard FilterProcessUser.isNeeded else { return }
    _ = chown(self.socket, geteuid(), FilterProcessUser.group)
    chmod(self.socket, 0o660)
  }

  /// Creates a working directory for a process.
  ///
  /// - Parameter user: Its user; `nil` for this process's.
  /// - Throws: ``FilterProcessError``.
  func makeWorkingDirectory(for user: FilterProcessUser?) throws(FilterProcessError) -> String {
    var template = Array("\(self.path)/process-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw FilterProcessError("no folder can be made in \(self.path): \(systemText(errno))")
    }
    if let user { _ = chown(&template, user.id, user.group) }
    return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  func remove() { cfp_remove(self.path) }
}
