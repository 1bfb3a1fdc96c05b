import GRPCCore
import GRPCProtobuf
import Logging
import SidelightTransport
import SidelightWire
import SwiftProtobuf
import Synchronization

/// The loads of a fleet's servers, which it reads from them.
///
/// It keeps a call open to every address of the configured names. A server that does not report is
/// left out: it drains, is gone, or hangs.
final class PeerLoads: Sendable {
  private struct Report {
    var load: Double
    var sessions: Int?
    var received: Duration
  }

  private struct State {
    /// The addresses of the names, by the name.
    var addresses: [Address: Set<Address>] = [:]
    /// The addresses that are followed, by the name.
    var followed: [Address: Set<Address>] = [:]
    var reports: [Address: Report] = [:]
  }

  /// The time between two look-ups of the names, and after a failed call.
  private static let lookupInterval = Duration.seconds(2)
  private static let retryDelay = Duration.seconds(1)
  /// The time for which a report counts.
  private static let lifetime = Duration.seconds(5)

  private let names: [Address]
  private let tls: ServerTLS?
  private let clock: SessionClock
  private let logger: Logger
  private let state = Mutex(State())
  /// The addresses that this server listens on.
  private let ownAddresses = LockedValue<[Address]>([])

  /// - Parameters:
  ///   - names: The configured addresses.
  ///   - tls: The TLS of this server, whose certificate it presents. Servers' certificates must be
  ///     signed by `clientAuthorities`, if they are set, else by the system's authorities. `nil`
  ///     disables TLS.
  init(_ names: [Address], tls: ServerTLS?, clock: SessionClock, logger: Logger) {
    self.names = names
    self.tls = tls
    self.clock = clock
    self.logger = logger
  }

  /// The servers that report their load, in the order of their addresses.
  var current: [Placement.Peer] { self.peers { _ in true } }

  /// The same without this server, as far as it knows its addresses: one behind a translation of
  /// addresses is a server like others.
  var others: [Placement.Peer] {
    let own = Address.ofThisMachine(listening: self.ownAddresses.value)
    return self.peers { !own.contains($0) }
  }

  private func peers(where isIncluded: (Address) -> Bool) -> [Placement.Peer] {
    let now = self.clock.now()
    return self.state.withLock { state in
      state.reports.filter { now - $0.value.received <= Self.lifetime && isIncluded($0.key) }
        .map {
          Placement.Peer(
            address: $0.key.description, load: $0.value.load, sessions: $0.value.sessions)
        }
    }.sorted { $0.address < $1.address }
  }

  /// Reads the loads until the task is cancelled.
  ///
  /// - Parameter addresses: The addresses that this server listens on.
  func run(ownAddresses addresses: [Address]) async {
    self.ownAddresses.value = addresses
    await withDiscardingTaskGroup { group in
      for name in Set(self.names) {
        group.addTask { await self.run(name) }
      }
    }
  }

  /// Follows the addresses of a name.
  private func run(_ name: Address) async {
    do {
      try await Dialer.withDialer(
        TransportConfiguration(), tls: self.clientTLS(for: name), interceptors: [],
        isConnectionError: { _ in false }
      ) { dialer in
        await withDiscardingTaskGroup { group in
          while !Task.isCancelled {
            for address in await self.lookUp(name) {
              group.addTask { await self.follow(address, of: name, dialer) }
            }
            await self.clock.wait(Self.lookupInterval)
          }
        }
      }
    } catch {
      self.logger.error("peer not read", metadata: ["peer": "\(name)", "reason": "\(error)"])
    }
  }

  private func clientTLS(for name: Address) -> ClientTLS? {
    guard let tls, case .tcp(let host, _) = name else { return nil }
    var client = ClientTLS()
    client.authorities = tls.clientAuthorities
    client.certificateChain = tls.certificateChain
    client.privateKey = tls.privateKey
    client.serverName = host.isIPAddress ? nil : host
    return client
  }

  /// Returns the addresses that must be followed. If the name cannot be looked up, all stay.
  private func lookUp(_ name: Address) async -> Set<Address> {
    let addresses: Set<Address>
    do {
      addresses = Set(try await name.resolved())
    } catch {
      self.logger.debug("peer not found", metadata: ["peer": "\(name)", "reason": "\(error)"])
      return []
    }
    return self.state.withLock { state in
      state.addresses[name] = addresses
      let followed = state.followed[name, default: []]
      state.followed[name, default: []].formUnion(addresses)
      return addresses.subtracting(followed)
    }
  }

  private func isListed(_ address: Address, of name: Address) -> Bool {
    self.state.withLock { $0.addresses[name]?.contains(address) ?? false }
  }

  /// Returns whether the name still has the address. If not, stops following the address.
  private func continues(_ address: Address, of name: Address) -> Bool {
    self.state.withLock { state in
      if state.addresses[name]?.contains(address) == true { return true }
      state.followed[name]?.remove(address)
      return false
    }
  }

  /// Reads the loads of one server as long as the name has its address.
  private func follow(_ address: Address, of name: Address, _ dialer: Dialer) async {
    while !Task.isCancelled, self.continues(address, of: name) {
      do {
        try await self.read(address, of: name, dialer)
      } catch {
        self.logger.debug(
          "peer not read", metadata: ["peer": "\(address)", "reason": "\(error)"])
      }
      self.state.withLock { _ = $0.reports.removeValue(forKey: address) }
      await self.clock.wait(Self.retryDelay)
    }
  }

  /// Reads the loads of one server until the call ends, or no report has come for some time.
  private func read(_ address: Address, of name: Address, _ dialer: Dialer) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await dialer.withConnection(to: address) { connection in
          try await Xds_Service_Orca_V3_OpenRcaService.Client(wrapping: connection)
            .streamCoreMetrics(.with { $0.reportInterval = .init(seconds: 1) }) { response in
              for try await report in response.messages {
                self.record(report, of: address)
              }
            }
        }
      }
      group.addTask {
        repeat {
          await self.clock.wait(Self.lifetime)
        } while !Task.isCancelled && self.isListed(address, of: name) && self.isFresh(address)
      }
      defer { group.cancelAll() }
      _ = try await group.next()
    }
  }

  private func record(_ message: Xds_Data_Orca_V3_OrcaLoadReport, of address: Address) {
    let load = message.applicationUtilization
    guard load.isFinite, load > 0 else { return }
    let report = Report(
      // A tiny load would be an unlimited weight.
      load: max(ReportedLoad.minimum, load),
      sessions: message.namedMetrics[Placement.Peer.sessionsMetric].flatMap(Int.init(exactly:)),
      received: self.clock.now())
    self.state.withLock { $0.reports[address] = report }
  }

  private func isFresh(_ address: Address) -> Bool {
    let now = self.clock.now()
    return self.state.withLock { state in
      state.reports[address].map { now - $0.received <= Self.lifetime } ?? false
    }
  }
}

/// The load that a server reports to proxies and to other servers: the arriving work, and a credit
/// for sessions that have just been opened.
///
/// The work of a session is known after a few seconds. Without a credit, all sessions that open
/// meanwhile would go to the server that had the lowest load before.
package struct ReportedLoad: Sendable, Hashable {
  /// A session's age, and its work relative to the capacity of the compute threads.
  package struct Session: Sendable, Hashable {
    package var age: Duration
    package var work: Double

    package init(age: Duration, work: Double) {
      self.age = age
      self.work = work
    }
  }

  /// The age from which a session's work is known.
  package static let settlingTime = Duration.seconds(5)
  /// The expected work of a session if no other is known: of 720p30 on four threads.
  package static let usualWork = 1.0 / 64
  /// The minimum of a report. Weights are the inverse of the load, and an idle server would
  /// otherwise get all sessions until its next report.
  package static let minimum = 0.05

  /// The load, at least ``minimum``; may exceed 1.
  package let value: Double

  /// - Parameters:
  ///   - work: The arriving work, relative to the capacity of the compute threads.
  ///   - sessions: The open sessions.
  package init(work: Double, sessions: [Session]) {
    let settled = sessions.filter { $0.age >= Self.settlingTime }
    let expected =
      settled.isEmpty
      ? Self.usualWork : settled.reduce(0) { $0 + $1.work } / Double(settled.count)
    let credit = sessions.filter { $0.age < Self.settlingTime }
      .reduce(0) { $0 + max(0, expected - $1.work) }
    self.value = max(Self.minimum, work + credit)
  }
}

extension Engine {
  /// The load to report now.
  var reportedLoad: Double {
    let demands = self.processing.scheduler.demands
    let now = self.clock.now()
    let sessions = self.admission.sessions.unorderedHandles.map { handle in
      ReportedLoad.Session(age: now - handle.opened, work: demands[handle.number] ?? 0)
    }
    return ReportedLoad(work: demands.values.reduce(0, +), sessions: sessions).value
  }
}
