public import Logging
public import SidelightIdentity
public import SidelightServer
public import SidelightTelemetry

/// All that `sidelight serve` can be told: the server's configuration, and what stands round it.
public struct ServeConfiguration: Sendable {
  /// What ``server`` begins with.
  var base = ServerConfiguration()

  /// The transport that ``profile`` stands for, and what is wanted otherwise.
  var profile = TransportConfiguration.Profile.latency {
    didSet { self.base.transport = self.profile.configuration }
  }
  /// Threads that filter; `nil`: one a processor.
  var computeThreads: Int?
  /// Whether clients on this host are offered ``sharedMemory``.
  var offersSharedMemory = false
  /// How, if they are.
  var sharedMemory = SharedMemoryConfiguration()
  /// Whether sessions can be resumed at all.
  var resumesSessions = true
  /// The keys, where they are stated outright.
  var resumeKeys: [ResumeKey]?
  /// The keys, where they are in a file.
  var resumeKeyFile: ResumeKeyFile?

  /// How TCP addresses are secured.
  var tls = TLSSettings()
  /// Which tokens are good.
  var token = TokenSettings()
  /// What users, groups, and clients with certificates may do.
  var unixUsers: [ScopeGrant] = []
  var unixGroups: [ScopeGrant] = []
  var certificates: [ScopeGrant] = []

  /// The settings of the process's C allocator, by their name.
  var allocator = AllocatorName.frames

  /// What pipelines of all callers can name.
  public var providedAssets: [ProvidedAsset] = []

  /// Where probes, metrics and the live page are served; `nil`: nowhere.
  public var admin: Address?
  /// Processes that serve; 0: this one does.
  public var workers = 0
  /// What a shutdown may take; then whatever is left is cut off.
  public var shutdownGrace = Duration.seconds(10)
  /// The least level that is logged.
  public var logLevel = Logger.Level.info
  /// How the log looks; `nil`: text on a terminal, else JSON.
  public var logFormat: LogFormat?

  /// The defaults.
  public init() {}

  /// The server's own.
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
    // One file of a caller, and a few of all, can always be on their way.
    let file = server.assets.maxFileBytes
    server.assets.maxUploadBytesPerCaller = max(server.assets.maxUploadBytesPerCaller, file)
    server.assets.maxUploadBytes = max(server.assets.maxUploadBytes, 4 * file)
    return server
  }

  /// Which tokens are good; `nil`: they are not looked at.
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

  /// The guards that are taken away.
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

  /// How long a flush may wait for more bytes; `nil`: not at all.
  var flushDelay: Duration? {
    get { self.base.transport.flushCoalescing?.delay }
    set {
      self.base.transport.flushCoalescing = newValue.map {
        .init(delay: $0, bytes: self.flushBytes)
      }
    }
  }

  /// The bytes from which on a flush does not wait.
  var flushBytes = TransportConfiguration.FlushCoalescing().bytes {
    didSet { self.base.transport.flushCoalescing?.bytes = self.flushBytes }
  }

  /// The settings of the allocator that have a name.
  enum AllocatorName: String, CaseIterable, Sendable {
    case frames, system
  }
}
