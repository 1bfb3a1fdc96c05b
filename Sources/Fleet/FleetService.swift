import AsyncAlgorithms
import Foundation
public import Logging
public import Metrics
public import ServiceLifecycle
public import SidelightServer
import SidelightWire
import Synchronization

/// Shares the operators' overrides and the use of callers' quotas with the other servers of a fleet,
/// through etcd.
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
  private static let backoff = (first: Duration.milliseconds(100), last: Duration.seconds(2))

  /// The name of the service, for logs.
  public let description = "FleetService"
  private let configuration: FleetConfiguration
  private let server: SharedState
  private let logger: Logger
  private let connected: Gauge
  private let quotas = QuotaRounds()
  /// The name of the server in keys.
  private let name = String(UInt64.random(in: .min ... .max), radix: 36)
  /// The numbers of the server's decisions that are in etcd.
  private let shared = Mutex(Set<UInt64>())
  /// Whether etcd is away; `nil` before the first attempt.
  private let isAway = Mutex(Bool?.none)

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
    self.server.join(self.quotas)
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
  /// the last known state stays in force.
  public func run() async {
    var delay = Self.backoff.first
    while !Task.isShuttingDownGracefully, !Task.isCancelled {
      do {
        try await EtcdClient.connected(to: self.configuration) { try await self.share($0) }
      } catch {
        if self.report(error) { delay = Self.backoff.first }
      }
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
    try await self.addOverrides(to: etcd)
    let lease = try await etcd.grantLease(Self.leaseTime)
    self.isAway.withLock { $0 = false }
    self.connected.record(1)
    self.logger.notice("fleet joined", metadata: ["etcd": "\(self.configuration)"])
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await etcd.watch(prefix: self.overrides, from: revision + 1) { self.receive($0) }
      }
      group.addTask {
        for await _ in changes { try await self.addOverrides(to: etcd) }
        try await gracefulShutdown()
      }
      group.addTask {
        try await self.quotas.run(Set(self.server.callers)) { caller in
          try await self.exchange(caller, through: etcd, lease)
        }
        try await gracefulShutdown()
      }
      group.addTask {
        var tick = 0
        for await _ in AsyncTimerSequence.repeating(every: .milliseconds(200)) {
          // Once a second; callers that lack a share, at once.
          let isSecond = tick.isMultiple(of: 5)
          self.quotas.note(self.server.callersWithRates(areShort: !isSecond))
          if isSecond { try await etcd.keepAlive(lease) }
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

  // MARK: Overrides

  /// Reads all overrides, and applies them.
  ///
  /// - Returns: The revision at which they were read.
  private func read(_ etcd: EtcdClient) async throws -> Int64 {
    let (values, revision) = try await etcd.values(prefix: self.overrides)
    let numbers = values.compactMap { self.merge($0)?.number }
    let known = Set(self.server.overrides.records(at: self.server.clock.now()).map(\.number))
    self.shared.withLock { $0 = known.intersection(numbers) }
    return revision
  }

  /// Applies an override that a server has written.
  private func receive(_ value: EtcdClient.KeyValue) {
    if let (number, isNew) = self.merge(value), isNew {
      self.shared.withLock { _ = $0.insert(number) }
    }
  }

  /// Applies the override of a key. Values that are not valid are ignored.
  ///
  /// - Returns: Its number, and whether this server did not have it; `nil` if it is not valid.
  private func merge(_ value: EtcdClient.KeyValue) -> (number: UInt64, isNew: Bool)? {
    let key = String(decoding: value.key, as: UTF8.self)
    do {
      guard let number = UInt64(key.dropFirst(self.overrides.count)) else {
        throw FieldViolation(field: "key", reason: "does not end in a number")
      }
      let override = try JSONDecoder().decode(SharedOverride.self, from: value.value)
      let record = try override.record(number: number, clock: self.server.clock)
      return (number, self.server.merge(record))
    } catch {
      self.logger.warning(
        "value in etcd ignored", metadata: ["key": "\(key.prefix(256))", "reason": "\(error)"])
      return nil
    }
  }

  /// Writes the decisions that etcd lacks, and deletes those that later ones have replaced.
  private func addOverrides(to etcd: EtcdClient) async throws {
    let (store, clock) = (self.server.overrides, self.server.clock)
    let records = store.records(at: clock.now())
    let shared = self.shared.withLock(\.self)
    for record in records.sorted(by: { $0.number < $1.number })
    where !shared.contains(record.number) {
      let lease = try await etcd.grantLease(record.decision.end - clock.now())
      let value = try JSONEncoder().encode(SharedOverride(record, clock: clock))
      let key = "\(self.overrides)\(record.number)"
      _ = try await etcd.transaction([.put(key, value, lease: lease)])
      self.shared.withLock { _ = $0.insert(record.number) }
    }
    let replaced = shared.subtracting(records.map(\.number))
    let deletions = replaced.prefix(EtcdClient.maxTransactionRequests).map {
      Etcdserverpb_RequestOp.delete("\(self.overrides)\($0)")
    }
    guard !deletions.isEmpty else { return }
    _ = try await etcd.transaction(deletions)
    self.shared.withLock { $0.subtract(replaced) }
  }

  // MARK: Quotas

  /// Publishes the use of a caller's quotas, and reads the use at the other servers.
  private func exchange(
    _ caller: String, through etcd: EtcdClient, _ lease: Int64
  ) async throws {
    let allowed = CharacterSet.alphanumerics.union(["-", ".", "_", ":", "@"])
    let encoded = caller.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    let prefix = "\(self.configuration.prefix)/use/\(encoded)/"
    let own = prefix + self.name
    let use = self.server.use(of: caller)
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
