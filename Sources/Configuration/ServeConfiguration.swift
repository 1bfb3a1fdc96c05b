public import Logging
public import SidelightIdentity
public import SidelightServer
public import SidelightTelemetry

/// The configuration of `sidelight serve`: that of the server and of the process around it.
public struct ServeConfiguration: Sendable {
  /// The basis of ``server``.
  var base = ServerConfiguration()

  /// The transport profile. Setting it replaces all transport settings by those of the profile.
  var profile = TransportConfiguration.Profile.latency {
    didSet { self.base.transport = self.profile.configuration }
  }
  /// The number of threads that run filters. `nil`: one per processor.
  var computeThreads: Int?
  /// Whether clients on this host are offered ``sharedMemory``.
  var offersSharedMemory = false
  /// The configuration of shared memory, if it is offered.
  var sharedMemory = SharedMemoryConfiguration()
  /// Whether sessions can be resumed.
  var resumesSessions = true
  /// The resume keys that are set directly.
  var resumeKeys: [ResumeKey]?
  /// The resume keys from a file.
  var resumeKeyFile: ResumeKeyFile?

  /// The TLS settings.
  var tls = TLSSettings()
  /// The token settings.
  var token = TokenSettings()
  /// The scopes of users, groups, and clients with certificates.
  var unixUsers: [ScopeGrant] = []
  var unixGroups: [ScopeGrant] = []
  var certificates: [ScopeGrant] = []

  /// The settings of the process's C allocator, by their name.
  var allocator = AllocatorName.frames

  /// The assets that all callers' pipelines can name.
  public var providedAssets: [ProvidedAsset] = []

  /// The address of the admin server. `nil` disables it.
  public var admin: Address?
  /// The number of worker processes. 0 serves in this process.
  public var workers = 0
  /// The maximum duration of a shutdown; then remaining work is aborted.
  public var shutdownGrace = Duration.seconds(10)
  /// The minimum level of log messages.
  public var logLevel = Logger.Level.info
  /// The format of the log. `nil`: text on a terminal, else JSON.
  public var logFormat: LogFormat?

  /// The defaults.
  public init() {}

  /// The configuration of the server.
  public var server: ServerConfiguration {
    var server = self.base
    server.computeThreads = self.computeThreads ?? server.computeThreads
    server.sharedMemory = self.offersSharedMemory ? self.sharedMemory : nil
    if !self.resumesSessions {
      server.resumeKeys = []
    } else if let keys = self.resumeKeys ?? self.resumeKeyFile?.keys {
      server.resumeKeys = keys
    }
    server.tls = self.tls.configuration
    server.identity = self.identity
    // One upload of a caller, and a few of all callers, always fit.
    let file = server.assets.maxFileBytes
    server.assets.maxUploadBytesPerCaller = max(server.assets.maxUploadBytesPerCaller, file)
    server.assets.maxUploadBytes = max(server.assets.maxUploadBytes, 4 * file)
    return server
  }

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

  /// The guards that are disabled.
  var disabledGuards: [Guard] {
    get { Guard.allCases.filter { !self.base.guards.active.contains($0) } }
    set { self.base.guards.active = Set(Guard.allCases).subtracting(newValue) }
  }

  /// The settings of the process's C allocator.
  public var allocatorSettings: AllocatorSettings {
    switch self.allocator {
    case .frames: .frames
    case .system: .system
    }
  }

  /// The maximum time that a flush waits for more bytes. `nil` disables waiting.
  var flushDelay: Duration? {
    get { self.base.transport.flushCoalescing?.delay }
    set {
      self.base.transport.flushCoalescing = newValue.map {
        .init(delay: $0, bytes: self.flushBytes)
      }
    }
  }

  /// The number of pending bytes at which a flush does not wait.
  var flushBytes = TransportConfiguration.FlushCoalescing().bytes {
    didSet { self.base.transport.flushCoalescing?.bytes = self.flushBytes }
  }

  /// The names of allocator settings.
  enum AllocatorName: String, CaseIterable, Sendable {
    case frames, system
  }
}
