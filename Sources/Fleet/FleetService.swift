import AsyncAlgorithms
import Foundation
public import Logging
public import Metrics
public import ServiceLifecycle
public import SidelightServer
import SidelightWire
import Synchronization

/// Shares the operators' overrides and the use of callers' quotas with the other servers of a
/// fleet, through etcd.
///
/// Each decision about an override is a key below `PREFIX/overrides`, with a lease until its end.
/// All servers watch these keys, and keep what they know while etcd is away; then each adds its
/// decisions that etcd lacks. The use of a caller's quotas is a key for each server below
/// `PREFIX/use/CALLER`, with a lease of a few seconds. A server that opens a session writes its use
/// and reads the use of the others in one transaction, which orders the servers.
public final class FleetService: Service, CustomStringConvertible {
  /// The help texts of metrics, by name.
  public static let metricDescriptions = [
    "sidelight_fleet_connected": "Whether the server shares overrides and quotas through etcd."
  ]

  /// The time after which the use of a server that was killed no longer counts.
  private static let leaseTime = Duration.seconds(5)
  /// The time before the first and the last connection attempts after a failure.
  private static let backoff = (first: Duration.milliseconds(100), last: Duration.seconds(10))
  /// The time after which a connection has lasted, and after which the use of servers that are out
  /// of reach no longer counts.
  private static let steadyTime = Duration.seconds(30)

  /// The name of the service, for logs.
  public let description = "FleetService"
  private let configuration: FleetConfiguration
  private let server: SharedState
  private let logger: Logger
  private let connected: Gauge
  private let rounds = FleetRounds()
  /// The name of the server in keys.
  private let name = String(UInt64.random(in: .min ... .max), radix: 36)
  /// The numbers of the decisions in etcd that the server has received or written.
  private let shared = Mutex(Set<UInt64>())
  /// Whether etcd is away; `nil` before the first attempt.
  private let isAway = Mutex(Bool?.none)
  /// The callers of whose participants only a part is shared.
  private let cutCallers = Mutex(Set<String>())

  /// - Parameters:
  ///   - configuration: The etcd.
  ///   - server: The server whose overrides and quotas are shared.
  ///   - metrics: The metrics that report the connection.
  public init(
    _ configuration: FleetConfiguration, server: SidelightServer, metrics: any MetricsFactory,
    logger: Logger
  ) {
    self.configuration = configuration
    self.server = server.sharedState
    self.logger = logger
    self.connected = Gauge(label: "sidelight_fleet_connected", factory: metrics)
    self.server.join(self.rounds)
  }

  private var overrides: String { "\(self.configuration.prefix)/overrides/" }

  /// Reads the overrides that are in force, for the first sessions of a server that starts. Returns
  /// after a few seconds without etcd.
  public func prepare() async {
    self.connected.record(0)
    do {
      try await EtcdClient.connected(to: self.configuration) { _ = try await self.read($0) }
    } catch {
      self.report(error)
    }
  }

  /// Shares the state until graceful shutdown begins or the task is cancelled. While etcd is away,
  /// the last known overrides stay in force, and after some time each server counts by itself.
  public func run() async {
    let clock = ContinuousClock()
    var (delay, lastConnected) = (Self.backoff.first, clock.now)
    while !Task.isShuttingDownGracefully, !Task.isCancelled {
      let began = clock.now
      do {
        try await EtcdClient.connected(to: self.configuration) { try await self.share($0) }
        lastConnected = clock.now
      } catch {
        if self.report(error) { lastConnected = clock.now }
      }
      // A connection that fails soon would otherwise be opened many times a second.
      if clock.now - began > Self.steadyTime { delay = Self.backoff.first }
      if clock.now - lastConnected > Self.steadyTime { self.server.forgetOthers() }
      // Servers that lost the same etcd do not return at the same time.
      let pause = delay * Double.random(in: 0.5 ... 1)
      await cancelWhenGracefulShutdown { try? await Task.sleep(for: pause) }
      delay = min(delay * 2, Self.backoff.last)
    }
  }

  /// - Returns: Whether etcd was not away before.
  @discardableResult
  private func report(_ error: any Error) -> Bool {
    let wasAway: Bool? = self.isAway.withLock { isAway in
      defer { isAway = true }
      return isAway
    }
    self.connected.record(0)
    guard wasAway != true, !Task.isCancelled, !Task.isShuttingDownGracefully else { return false }
    self.logger.warning(
      "etcd is away; the last known overrides and quotas stay in force",
      metadata: ["etcd": "\(self.configuration)", "reason": "\(error)"])
    return true
  }

  /// Shares the state until graceful shutdown begins.
  ///
  /// - Throws: The error of a call, after which nothing is shared.
  private func share(_ etcd: EtcdClient) async throws {
    let changes = self.server.overrides.changes()
    let revision = try await self.read(etcd)
    let lease = try await etcd.grantLease(Self.leaseTime)
    self.isAway.withLock { $0 = false }
    self.connected.record(1)
    self.logger.notice("fleet joined", metadata: ["etcd": "\(self.configuration)"])
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await etcd.watch(prefix: self.overrides, from: revision + 1) { self.receive($0) }
      }
      group.addTask {
        for await _ in changes { self.rounds.overrides.note([""]) }
        try await gracefulShutdown()
      }
      group.addTask {
        try await self.rounds.overrides.run([""]) { _, hasFailed in
          try await self.attempt("overrides", isRepeated: hasFailed) {
            try await self.addOverrides(to: etcd)
          }
        }
        try await gracefulShutdown()
      }
      group.addTask {
        try await self.rounds.quotas.run(self.server.callers) { caller, hasFailed in
          try await self.attempt("quotas of \(caller)", isRepeated: hasFailed) {
            try await self.exchange(caller, through: etcd, lease)
          }
        }
        try await gracefulShutdown()
      }
      group.addTask {
        var tick = 0
        for await _ in AsyncTimerSequence.repeating(every: .milliseconds(200)) {
          // Once a second; callers that lack a share, at once.
          let isSecond = tick.isMultiple(of: 5)
          self.rounds.quotas.note(self.server.callersWithRates(areShort: !isSecond))
          if isSecond {
            self.rounds.overrides.retry()
            self.rounds.quotas.retry()
            try await etcd.keepAlive(lease)
          }
          tick += 1
        }
      }
      group.addTask { try await gracefulShutdown() }
      defer { group.cancelAll() }
      _ = try await group.next()
    }
    // The server's sessions have ended, and no longer count.
    try await etcd.revokeLease(lease)
  }

  /// Runs an exchange. A failure does not end the connection, which receives overrides.
  ///
  /// - Parameter isRepeated: Whether the exchange failed before; only the first failure is logged.
  /// - Returns: Whether it succeeded.
  private func attempt(
    _ subject: String, isRepeated: Bool, _ exchange: () async throws -> Void
  ) async throws -> Bool {
    do {
      try await exchange()
      return true
    } catch {
      try Task.checkCancellation()
      if !isRepeated {
        self.logger.warning(
          "not shared with the fleet; tried again every second",
          metadata: ["subject": "\(subject)", "reason": "\(error)"])
      }
      return false
    }
  }

  // MARK: Overrides

  /// Reads all overrides, and applies them.
  ///
  /// - Returns: The revision at which they were read.
  private func read(_ etcd: EtcdClient) async throws -> Int64 {
    let (values, revision) = try await etcd.values(prefix: self.overrides)
    let numbers = Set(values.compactMap { self.merge($0) })
    self.shared.withLock { $0 = numbers }
    return revision
  }

  /// Applies an override that a server has written.
  private func receive(_ value: EtcdClient.KeyValue) {
    if let number = self.merge(value) { self.shared.withLock { _ = $0.insert(number) } }
  }

  /// Applies the override of a key. Values that are not valid are ignored.
  ///
  /// - Returns: Its number; `nil` if it is not valid, has expired, or found no room.
  private func merge(_ value: EtcdClient.KeyValue) -> UInt64? {
    let key = String(decoding: value.key, as: UTF8.self)
    do {
      guard let number = UInt64(key.dropFirst(self.overrides.count)) else {
        throw FieldViolation(field: "key", reason: "does not end in a number")
      }
      let override = try JSONDecoder().decode(SharedOverride.self, from: value.value)
      let record = try override.record(number: number, clock: self.server.clock)
      return self.server.merge(record) ? number : nil
    } catch {
      self.logger.warning(
        "value in etcd ignored", metadata: ["key": "\(key.prefix(256))", "reason": "\(error)"])
      return nil
    }
  }

  /// Writes the decisions that etcd lacks, and deletes those that later ones have replaced.
  private func addOverrides(to etcd: EtcdClient) async throws {
    let (store, clock) = (self.server.overrides, self.server.clock)
    // Read before the records: a decision that another server adds meanwhile is not deleted.
    let shared = self.shared.withLock(\.self)
    let records = store.records(at: clock.now())
    // In no order: servers that add the same decisions to a new etcd receive each other's meanwhile.
    for record in records.shuffled() {
      guard !self.shared.withLock({ $0.contains(record.number) }) else { continue }
      let lease = try await etcd.grantLease(record.decision.end - clock.now())
      let value = try JSONEncoder().encode(SharedOverride(record, clock: clock))
      let key = "\(self.overrides)\(record.number)"
      do {
        _ = try await etcd.transaction([.put(key, value, lease: lease)])
      } catch {
        // Otherwise the lease would stay until the end of the override.
        try? await etcd.revokeLease(lease)
        throw error
      }
      self.shared.withLock { _ = $0.insert(record.number) }
    }
    let replaced = Array(shared.subtracting(records.map(\.number)))
    let chunkSize = EtcdClient.maxTransactionRequests
    for start in stride(from: 0, to: replaced.count, by: chunkSize) {
      let chunk = replaced[start...].prefix(chunkSize)
      _ = try await etcd.transaction(chunk.map { .delete("\(self.overrides)\($0)") })
      self.shared.withLock { $0.subtract(chunk) }
    }
  }

  // MARK: Quotas

  /// The loopback interface: the boot ID of the system and the network namespace. `nil` without
  /// Linux's `/proc`.
  private static let loopback: String? = {
    guard let start = FileManager.default.contents(atPath: "/proc/sys/kernel/random/boot_id"),
      let namespace = try? FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/self/ns/net")
    else { return nil }
    return String(decoding: start.prefix { $0 != 10 }, as: UTF8.self) + namespace
  }()

  /// Returns the name of a caller in keys. Callers of loopback addresses have equal names on all
  /// hosts, and are different callers.
  private func key(of caller: String) -> String {
    let allowed = CharacterSet.alphanumerics.union(["-", ".", "_", ":", "@"])
    let name = caller.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    return Caller.isLoopback(caller) ? "\(name)/\(Self.loopback ?? self.name)" : name
  }

  /// Publishes the use of a caller's quotas, and reads the use at the other servers.
  private func exchange(
    _ caller: String, through etcd: EtcdClient, _ lease: Int64
  ) async throws {
    let prefix = "\(self.configuration.prefix)/use/\(self.key(of: caller))/"
    let own = prefix + self.name
    let (use, participantsLeftOut) = self.server.use(of: caller)
    let isNewlyCut = self.cutCallers.withLock { callers in
      guard participantsLeftOut > 0 else {
        callers.remove(caller)
        return false
      }
      return callers.insert(caller).inserted
    }
    if isNewlyCut {
      self.logger.warning(
        "participants with the least use are not shared with the fleet",
        metadata: ["caller": "\(caller)", "count": "\(participantsLeftOut)"])
    }
    let responses = try await etcd.transaction([
      use.isEmpty ? .delete(own) : .put(own, try JSONEncoder().encode(use), lease: lease),
      .range(prefix: prefix),
    ])
    let others = (responses.last?.responseRange.kvs ?? []).compactMap { value -> QuotaUse? in
      guard value.key != Data(own.utf8) else { return nil }
      do {
        let use = try JSONDecoder().decode(QuotaUse.self, from: value.value)
        return use.isValid ? use : nil
      } catch {
        self.logger.debug(
          "value in etcd ignored",
          metadata: ["key": "\(String(decoding: value.key, as: UTF8.self).prefix(256))"])
        return nil
      }
    }
    self.server.exchange(use, of: caller, with: others)
  }
}

extension QuotaUse {
  /// Whether all amounts are in the range of amounts that servers write.
  fileprivate var isValid: Bool {
    (0 ... 1_000_000).contains(self.sessions)
      && [self.frames, self.bytes].compactMap(\.self).allSatisfy(\.isValid)
      && (self.participants ?? [:]).values.allSatisfy(\.isValid)
  }
}

extension QuotaUse.Rate {
  fileprivate var isValid: Bool {
    let amounts = 0.0 ... 1e15
    return amounts.contains(self.demand) && amounts.contains(self.share)
      && (1.0 ... 1e6).contains(self.weight)
  }
}
