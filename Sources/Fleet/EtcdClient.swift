import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import SwiftProtobuf

/// A connection to etcd. All calls throw `RPCError` if etcd does not answer in time.
struct EtcdClient: Sendable {
  typealias KeyValue = Mvccpb_KeyValue
  private typealias Transport = HTTP2ClientTransport.Posix

  /// The maximum number of keys in an answer, which bounds its size.
  private static let pageSize: Int64 = 16
  /// The maximum number of requests in a transaction; etcd's default limit is 128.
  static let maxTransactionRequests = 100
  /// The maximum number of servers whose use of a quota is read, and the maximum size of an answer.
  fileprivate static let maxServers: Int64 = 1024
  private static let maxAnswerBytes = 64 << 20

  private let client: GRPCClient<Transport>

  /// Connects to etcd while `body` runs.
  static func connected(
    to configuration: FleetConfiguration,
    _ body: @escaping @Sendable (EtcdClient) async throws -> Void
  ) async throws {
    let client = GRPCClient(
      transport: try Transport(
        target: .dns(host: configuration.host, port: configuration.port),
        transportSecurity: configuration.isSecure ? .tls : .plaintext))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        // If the connection fails, so do the calls.
        try? await client.runConnections()
        try await Task.never()
      }
      group.addTask { try await body(EtcdClient(client: client)) }
      defer { group.cancelAll() }
      _ = try await group.next()
    }
  }

  // MARK: Keys

  /// Returns the keys that begin with a prefix and their values, and the revision at which they
  /// have these values.
  func values(prefix: String) async throws -> (values: [KeyValue], revision: Int64) {
    var values: [KeyValue] = []
    var (revision, key) = (Int64(0), Data(prefix.utf8))
    while true {
      let response = try await Etcdserverpb_KV.Client(wrapping: self.client).range(
        .with {
          $0.key = key
          $0.rangeEnd = Self.end(of: prefix)
          $0.limit = Self.pageSize
          $0.revision = revision
        }, options: Self.options(.seconds(2)))
      if revision == 0 { revision = response.header.revision }
      values += response.kvs
      guard response.more, let last = response.kvs.last else { return (values, revision) }
      key = last.key + [0]
    }
  }

  /// Runs requests in order and without others in between.
  func transaction(
    _ requests: [Etcdserverpb_RequestOp]
  ) async throws -> [Etcdserverpb_ResponseOp] {
    try await Etcdserverpb_KV.Client(wrapping: self.client).txn(
      .with { $0.success = requests }, options: Self.options(.seconds(1))
    ).responses
  }

  /// Receives new values of keys that begin with a prefix, until the connection fails.
  ///
  /// - Parameter revision: The first revision to receive.
  /// - Throws: `RPCError`, also if etcd has no leader, or no longer has the revision.
  func watch(
    prefix: String, from revision: Int64, _ receive: @escaping @Sendable (KeyValue) -> Void
  ) async throws {
    let request = Etcdserverpb_WatchRequest.with {
      $0.createRequest.key = Data(prefix.utf8)
      $0.createRequest.rangeEnd = Self.end(of: prefix)
      $0.createRequest.startRevision = revision
      $0.createRequest.fragment = true
    }
    try await Etcdserverpb_Watch.Client(wrapping: self.client).watch(
      metadata: ["hasleader": "true"]
    ) { writer in
      try await writer.write(request)
      // The end of the requests would end the watch.
      try await Task.never()
    } onResponse: { response in
      for try await message in response.messages {
        if message.canceled {
          throw RPCError(code: .aborted, message: "The watch was ended: \(message.cancelReason)")
        }
        for event in message.events where event.type == .put { receive(event.kv) }
      }
    }
    throw RPCError(code: .unavailable, message: "The watch has ended.")
  }

  /// Returns the first key after the keys that begin with a prefix.
  fileprivate static func end(of prefix: String) -> Data {
    var end = Data(prefix.utf8)
    end[end.count - 1] += 1
    return end
  }

  // MARK: Leases

  /// Returns a lease, whose keys are deleted after a time unless it is kept alive.
  func grantLease(_ time: Duration) async throws -> Int64 {
    let seconds = Int64((time / .seconds(1)).rounded(.up))
    return try await Etcdserverpb_Lease.Client(wrapping: self.client).leaseGrant(
      .with { $0.ttl = max(1, seconds) }, options: Self.options(.seconds(2))
    ).id
  }

  /// Deletes a lease and its keys.
  func revokeLease(_ lease: Int64) async throws {
    _ = try await Etcdserverpb_Lease.Client(wrapping: self.client).leaseRevoke(
      .with { $0.id = lease }, options: Self.options(.seconds(1)))
  }

  /// Starts the time of a lease again.
  ///
  /// - Throws: NOT_FOUND if the lease has expired.
  func keepAlive(_ lease: Int64) async throws {
    try await Etcdserverpb_Lease.Client(wrapping: self.client).leaseKeepAlive(
      options: Self.options(.seconds(3))
    ) { writer in
      try await writer.write(.with { $0.id = lease })
    } onResponse: { response in
      for try await message in response.messages where message.ttl > 0 { return }
      throw RPCError(code: .notFound, message: "The lease has expired.")
    }
  }

  private static func options(_ timeout: Duration) -> CallOptions {
    var options = CallOptions.defaults
    options.timeout = timeout
    options.maxResponseMessageBytes = Self.maxAnswerBytes
    return options
  }
}

extension Etcdserverpb_RequestOp {
  static func put(_ key: String, _ value: Data, lease: Int64) -> Self {
    .with {
      $0.requestPut.key = Data(key.utf8)
      $0.requestPut.value = value
      $0.requestPut.lease = lease
    }
  }

  static func delete(_ key: String) -> Self {
    .with { $0.requestDeleteRange.key = Data(key.utf8) }
  }

  /// Requests the keys of servers that begin with a prefix.
  static func range(prefix: String) -> Self {
    .with {
      $0.requestRange.key = Data(prefix.utf8)
      $0.requestRange.rangeEnd = EtcdClient.end(of: prefix)
      $0.requestRange.limit = EtcdClient.maxServers
    }
  }
}

extension Task<Never, Never> {
  /// Waits until the task is cancelled.
  ///
  /// - Throws: `CancellationError`.
  fileprivate static func never() async throws {
    while true { try await Task.sleep(for: .seconds(3600)) }
  }
}

/// The etcd through which the servers of a fleet share overrides and the use of quotas.
public struct FleetConfiguration: Sendable, Hashable, CustomStringConvertible {
  /// The name or address of the host. If a name has several addresses, all are tried.
  public let host: String
  /// The port. The default is 2379.
  public let port: Int
  /// Whether the connection uses TLS, with the system's certificate authorities.
  public let isSecure: Bool
  /// The beginning of all keys, which separates fleets that share an etcd. The default is
  /// `sidelight`.
  public let prefix: String

  /// Parses a URL: `http://HOST:PORT/PREFIX`, or `https://HOST:PORT/PREFIX`. Port and prefix are
  /// optional.
  ///
  /// - Returns: `nil` if the text doesn't have this form.
  public init?(_ text: String) {
    guard let url = URLComponents(string: text), let host = url.host, !host.isEmpty,
      url.scheme == "http" || url.scheme == "https",
      url.user == nil, url.password == nil, url.query == nil, url.fragment == nil
    else { return nil }
    let port = url.port ?? 2379
    guard (1 ... 65535).contains(port) else { return nil }
    let path = url.path.split(separator: "/")
    guard path.count <= 1 else { return nil }
    self.host = host.trimmingCharacters(in: ["[", "]"])
    self.port = port
    self.isSecure = url.scheme == "https"
    self.prefix = path.first.map(String.init) ?? "sidelight"
  }

  /// The URL with port and prefix.
  public var description: String {
    let host = self.host.contains(":") ? "[\(self.host)]" : self.host
    return "\(self.isSecure ? "https" : "http")://\(host):\(self.port)/\(self.prefix)"
  }
}
