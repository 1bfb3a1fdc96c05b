public import SidelightFleet
public import SidelightIdentity
// Settings produce a server's configuration, addresses and log formats.
@_exported public import SidelightServer
@_exported public import SidelightTelemetry
package import SidelightStudio
public import SidelightVision
import SidelightWire

/// The configuration of `sidelight serve`: of the server, and of the process around it.
public struct ServeConfiguration: Sendable {
  /// The basis of ``server``.
  var base = ServerConfiguration()

  /// The transport profile. Setting it replaces all transport settings by the profile's settings.
  var profile = TransportConfiguration.Profile.latency {
    didSet { self.base.transport = self.profile.configuration }
  }
  /// The number of threads that run filters. `nil`: one per processor.
  var computeThreads: Int?
  /// Whether clients on this host are offered ``sharedMemory``.
  var offersSharedMemory = false
  /// The configuration of shared memory, if it is offered.
  var sharedMemory = SharedMemoryConfiguration()
  /// The resume keys that are set directly.
  var resumeKeys: [ResumeKey]?
  var resumeKeyFile: ResumeKeyFile?

  var tls = TLSSettings()
  var token = TokenSettings()
  /// The scopes of users, groups, and clients with certificates.
  var unixUsers: [ScopeGrant] = []
  var unixGroups: [ScopeGrant] = []
  var certificates: [ScopeGrant] = []

  /// The assets available to all callers' pipelines.
  public var providedAssets: [ProvidedAsset] = []

  /// The models for faces and mattes.
  public var models: [ConfiguredModel] = []
  /// The path of ONNX Runtime's shared library. `nil` runs models using OpenCV only.
  public var onnxRuntime: String?

  /// The commands of filter processes.
  public var filterProcesses: [String] = []
  /// The processes of every command.
  public var filterProcessCount = 1
  /// Whether a change of a file that a command names restarts its processes.
  public var reloadsFilterProcesses = false

  /// The etcd through which servers share overrides and quotas. `nil` shares nothing.
  public var fleet: FleetConfiguration?

  /// The address of the admin server. `nil` disables it.
  public var admin: Address?
  var studio = StudioSettings()
  /// The number of worker processes. 0 serves in this process.
  public var workers = 0
  /// The maximum duration of a shutdown; then remaining work is aborted.
  public var shutdownGrace = Duration.seconds(10)
  /// The log.
  public var log = LogSettings()

  /// The defaults.
  public init() {}

  /// The configuration of the server.
  public var server: ServerConfiguration {
    var server = self.base
    server.computeThreads = self.computeThreads ?? server.computeThreads
    server.guards = Self.derived(server.guards)
    server.sharedMemory = self.offersSharedMemory ? self.sharedMemory : nil
    if let keys = self.resumeKeys ?? self.resumeKeyFile?.keys {
      server.resumeKeys = keys
    }
    // Sessions have 60 % of the grace period, and connections 72 %; at most 5 and 6 s.
    server.drainTimeout = min(server.drainTimeout, self.shutdownGrace * 0.6)
    server.tls = self.tls.configuration
    server.identity = self.identity
    // One upload of a caller, and a few of all callers, always fit.
    let file = server.assets.maxFileBytes
    server.assets.maxUploadBytesPerCaller = max(server.assets.maxUploadBytesPerCaller, file)
    server.assets.maxUploadBytes = max(server.assets.maxUploadBytes, 4 * file)
    return server
  }

  /// The configuration of the studio's page and WebSockets. `nil` disables the studio.
  package var studioConfiguration: Studio.Configuration? { self.studio.configuration }

  /// The configuration of the token authenticator. `nil` ignores tokens.
  public var tokens: TokenConfiguration? { self.token.configuration }

  private var identity: IdentityConfiguration {
    var identity = IdentityConfiguration()
    for (path, grants) in [
      (\IdentityConfiguration.unixUsers, self.unixUsers), (\.unixGroups, self.unixGroups),
    ] {
      for grant in grants {
        guard let id = UInt32(grant.name) else { continue }
        identity[keyPath: path][id, default: []].formUnion(grant.scopes)
      }
    }
    if !self.certificates.isEmpty {
      identity.certificates = self.certificates.map {
        CertificateRule(name: $0.name, scopes: $0.scopes)
      }
    }
    return identity
  }

  /// Returns limits with those that follow from others: of an address, a quarter of the limit of
  /// all, at least the default, and at most a half; of a burst of PINGs, four times the rate.
  private static func derived(_ guards: GuardConfiguration) -> GuardConfiguration {
    var guards = guards
    for (all, address) in [
      (\GuardConfiguration.maxConnections, \GuardConfiguration.maxConnectionsPerAddress),
      (\.maxUnfinishedBytes, \.maxUnfinishedBytesPerAddress),
    ] {
      let limit = guards[keyPath: all]
      guards[keyPath: address] = min(
        max(limit / 4, GuardConfiguration()[keyPath: address]), max(1, limit / 2))
    }
    guards.pingBurst = 4 * guards.pingsPerSecond
    return guards
  }

  // MARK: Workers

  /// Returns the configuration of one of several workers on a host: the workers share the
  /// processors, and ports and paths that cannot be shared are numbered.
  ///
  /// - Parameters:
  ///   - index: The number of the worker, from 0.
  ///   - count: The number of workers.
  ///   - resumeKey: The resume key that all workers share, unless keys are configured.
  public func forWorker(
    _ index: Int, of count: Int, resumeKey: ResumeKey
  ) -> ServeConfiguration {
    var result = self
    result.computeThreads = self.computeThreads ?? max(1, self.base.computeThreads / count)
    if self.resumeKeys == nil, self.resumeKeyFile == nil { result.resumeKeys = [resumeKey] }
    result.admin = self.admin.map { $0.forWorker(index) }
    result.studio.address = self.studio.address.map { $0.forWorker(index) }
    if let path = self.sharedMemory.socketPath {
      result.sharedMemory.socketPath = Self.path(path, ofWorker: index)
    }
    return result
  }

  /// The errors in the paths and ports of the last worker, which are the longest and the highest.
  var workerErrors: [(key: String, reason: String)] {
    guard self.workers > 0 else { return [] }
    let last = self.workers - 1
    var errors: [(String, String)] = []
    if let path = self.sharedMemory.socketPath {
      errors += Self.pathErrors("shared-memory.socket", path, last)
    }
    for (key, address) in [("admin.listen", self.admin), ("studio.listen", self.studio.address)] {
      switch address {
      case .tcp(_, let port) where port > 0 && port + last > 65535:
        errors.append((key, "leaves no port for worker \(last): the limit is 65535"))
      case .unix(let path): errors += Self.pathErrors(key, path, last)
      case .tcp, nil: break
      }
    }
    return errors
  }

  private static func pathErrors(
    _ key: String, _ path: String, _ last: Int
  ) -> [(String, String)] {
    let count = Self.path(path, ofWorker: last).utf8.count
    guard count > 107 else { return [] }
    return [(key, "has \(count) bytes for worker \(last); the limit is 107")]
  }

  fileprivate static func path(_ path: String, ofWorker index: Int) -> String {
    "\(path).\(index)"
  }
}

extension Address {
  /// Returns the address with the worker's number added to the port, or appended to the path. Port
  /// 0 stays, since the system chooses a free port.
  fileprivate func forWorker(_ index: Int) -> Address {
    switch self {
    case .tcp(let host, let port): .tcp(host: host, port: port == 0 ? 0 : port + index)
    case .unix(let path): .unix(path: ServeConfiguration.path(path, ofWorker: index))
    }
  }
}

/// A file provided to all callers by the operator, and its name in pipelines.
public struct ProvidedAsset: Sendable, Hashable {
  /// The name in pipelines.
  public let name: String
  /// The path of the PNG, JPEG or `.cube` file.
  public let path: String
}
