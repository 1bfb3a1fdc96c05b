public import Foundation
import SidelightKernels
import SidelightTransport
public import SidelightWire

/// The addresses and limits of a server.
public struct ServerConfiguration: Sendable, Hashable {
  /// - `addresses` (default: `127.0.0.1:50051`): the addresses to listen on. TCP addresses are IP
  ///   addresses or `localhost`.
  public var addresses: [Address] = [.tcp(host: "127.0.0.1", port: 50051)]
  /// - `listeningDescriptors` (default: empty): sockets that already listen at `addresses`, one per
  ///   address and in the same order (``ListeningSocket``). The server takes ownership of them. If
  ///   empty, the server binds the addresses itself. The server does not delete the files of Unix
  ///   sockets that it did not bind.
  public var listeningDescriptors: [Int32] = []
  /// - `unixSocketPermissions` (mode, default: 0600, the owner): the permissions of Unix sockets'
  ///   files. Users that may write the file may connect.
  public var unixSocketPermissions: UInt16 = 0o600
  /// - `tls` (optional, default: `nil`): the TLS settings of TCP addresses. `nil` disables TLS.
  public var tls: ServerTLS?
  /// The scopes of callers that their connection identifies.
  public var identity = IdentityConfiguration()
  /// The limits of callers and participants.
  public var quotas = Quotas()
  /// - `permissions` (default: empty): the rules about the filters that callers and participants
  ///   may use. Without rules they may use all filters.
  public var permissions: [PermissionRule] = []
  /// The other servers of the fleet.
  public var placement = PlacementConfiguration()
  /// The settings of the transport.
  public var transport = TransportConfiguration()
  /// The limits of peers.
  public var guards = GuardConfiguration()
  /// - `maxFramePixels` (count, default: 36 million, a little more than 8K UHD): the largest frame.
  public var maxFramePixels = 36_000_000
  /// - `maxSessions` (count, default: 256): the maximum number of open sessions; further `open`
  ///   messages are refused with RESOURCE_EXHAUSTED.
  public var maxSessions = 256
  /// - `maxLoad` (ratio, optional, default: 2.0): `open` is refused with RESOURCE_EXHAUSTED while
  ///   the frames that arrive need more than this multiple of the compute threads' capacity; at 2.0
  ///   a new session would lose every second frame. A session counts up to a sixteenth of the
  ///   capacity, and another caller up to its fair share, because more is their own loss. `nil`
  ///   disables the limit.
  public var maxLoad: Double? = 2
  /// - `framesInFlight` (count, default: 4, range: ``framesInFlightRange``): the maximum number of
  ///   a session's frames without an outcome, unless its client asks for another one. The default
  ///   is one on the wire in either direction, one in the worker and one in the mailbox.
  public var framesInFlight = 4
  /// The range of ``framesInFlight``: 1 to 64.
  public static let framesInFlightRange = 1 ... 64
  /// - `maxConsecutiveErrors` (count, default: 30): the consecutive invalid frames and refused
  ///   messages after which a session ends.
  public var maxConsecutiveErrors = 30
  /// - `customFilterTimeout` (duration, default: 2 s): the time limit of a custom filter for frames
  ///   without a budget; with a budget the limit is ten times the budget. After it the failure
  ///   policy applies. An analysis that takes longer is reported with an `error`, and does not run
  ///   again until it has returned.
  public var customFilterTimeout = Duration.seconds(2)
  /// - `drainTimeout` (duration, default: 5 s): the time that sessions have to finish when the
  ///   server shuts down. Remaining sessions end with UNAVAILABLE; connections on which that status
  ///   cannot be written are closed after another fifth of that time.
  public var drainTimeout = Duration.seconds(5)
  /// The time after the beginning of a shutdown at which connections are closed.
  package var closeTimeout: Duration { self.drainTimeout * 1.2 }
  /// - `resumeKeys` (default: one random key): the first key signs resume tokens; tokens of all
  ///   keys are accepted. Servers using the same keys resume one another's sessions. An empty list
  ///   disables resumption.
  public var resumeKeys = [ResumeKey.random()]
  /// - `resumeTokenLifetime` (duration, default: 5 min, at least 10 s): how long a resume token is
  ///   valid. Clients get a new one after half of it. Another server of a fleet may accept a token
  ///   from before an operator's override for as long.
  public var resumeTokenLifetime = Duration.seconds(300)
  /// - `computeThreads` (count, default: the number of processors that this process may use, by its
  ///   affinity and the cpusets and quotas of its cgroups; a quota of 1.5 is one): the threads that
  ///   filter.
  public var computeThreads = ThreadCounts.ofThisProcess.compute
  /// - `computeNiceness` (0-19, default: 10): the niceness of the threads that filter. A higher
  ///   value gives precedence to the threads that carry gRPC.
  public var computeNiceness = 10
  /// - `sharedMemory` (optional, default: `nil`): the settings of shared memory for clients on this
  ///   host. `nil` disables shared memory, and pixels travel inline.
  public var sharedMemory: SharedMemoryConfiguration?
  /// The limits and retention of callers' assets.
  public var assets = AssetConfiguration()
  /// - `maxPlanBytes` (bytes, default: 256 MiB): the maximum memory of a pipeline for one frame
  ///   size, not counting the frames: images that it composites, fields that vary over the frame.
  ///   Two images of 4K size have 133 MB. Above the limit the failure policy applies to frames, and
  ///   still images are refused with RESOURCE_EXHAUSTED.
  public var maxPlanBytes = 256 << 20
  /// - `maxTotalPlanBytes` (bytes, default: 1 GiB): the maximum memory of the pipelines of all
  ///   sessions together. Pipelines of less than 64 KiB do not count.
  public var maxTotalPlanBytes = 1 << 30
  /// - `maxIdlePoolBytes` (bytes, default: 256 MiB): the maximum memory of idle frame buffers.
  public var maxIdlePoolBytes = 256 << 20
  /// - `releaseMemoryAfter` (duration, optional, default: 10 s, at least 100 ms): the interval at
  ///   which unused memory is returned to the system: frame buffers that were idle for the whole
  ///   interval; and the free part of the heap, if the server was idle for the interval or if it is
  ///   more than an eighth of the resident memory. The first frames after that are slower, because
  ///   their pages are new. `nil` disables it.
  public var releaseMemoryAfter: Duration? = .seconds(10)

  /// The defaults.
  public init() {}

  /// - Throws: ``ConfigurationError`` if sockets are given, but not exactly one per address.
  func validateDescriptors() throws(ConfigurationError) {
    let (count, required) = (self.listeningDescriptors.count, self.addresses.count)
    guard count == 0 || count == required else {
      throw ConfigurationError(
        setting: "listeningDescriptors", value: "\(count) sockets",
        range: "none, or \(required): one for each address")
    }
  }
}

/// The settings of shared memory, through which a server exchanges pixels with clients on its host.
///
/// Memory counts against the limits when a ring is granted, although the system allocates its pages
/// when a slot is first used.
public struct SharedMemoryConfiguration: Sendable, Hashable {
  /// - `socketPath` (optional, default: one in a new private folder): the descriptor socket, a Unix
  ///   socket, at most 107 bytes. A socket that a server left behind there is replaced.
  public var socketPath: String?
  /// - `maxSessionBytes` (bytes, default: 512 MiB): the largest ring of a session. Twelve slots of
  ///   4K BGRA have 398 MB.
  public var maxSessionBytes = 512 << 20
  /// - `maxBytes` (bytes, default: 4 GiB): all rings together.
  public var maxBytes = 4 << 30
  /// - `tokenLifetime` (duration, default: 10 s): the time after `opened` during which a
  ///   client can fetch its ring.
  public var tokenLifetime = Duration.seconds(10)
  /// - `allowedUserIDs` (default: empty): users whose processes may fetch rings, in addition to the
  ///   server's user and root, for clients in other containers. They must be able to reach
  ///   `socketPath`.
  public var allowedUserIDs: Set<UInt32> = []
  /// - `maxPendingConnections` (count, default: 16): connections to the descriptor socket without a
  ///   complete request; others are refused.
  public var maxPendingConnections = 16
  /// - `descriptorSocketTimeout` (duration, default: 2 s): the time in which a connection to the
  ///   descriptor socket must send its request. Later, the server closes it.
  public var descriptorSocketTimeout = Duration.seconds(2)

  /// The defaults.
  public init() {}

  /// Whether the system supports this kind of shared memory, as Linux does. On other systems the
  /// server doesn't offer shared memory.
  public static var isSupported: Bool { SharedMemoryRing.isSupported }
}

/// A secret key that signs resume tokens. Servers using the same key accept one another's tokens.
public struct ResumeKey: Sendable, Hashable {
  /// The key's name in tokens, for key rotation; at most 64 bytes.
  public let id: String
  /// At least 32 random bytes.
  public let secret: Data

  /// - Parameters:
  ///   - id: The key's name in tokens, at most 64 bytes.
  ///   - secret: At least 32 random bytes.
  /// - Precondition: The secret and the name have these lengths.
  public init(id: String, secret: Data) {
    precondition(secret.count >= 32, "a resume key must have at least 32 bytes")
    precondition(id.utf8.count <= 64, "the name of a resume key must have at most 64 bytes")
    self.id = id
    self.secret = secret
  }

  /// Returns a random key: sessions can be resumed on this server only, until it stops.
  public static func random() -> ResumeKey {
    var generator = SystemRandomNumberGenerator()
    return ResumeKey(
      id: "random",
      secret: Data((0 ..< 32).map { _ in .random(in: .min ... .max, using: &generator) })
    )
  }
}

extension SidelightServer {
  /// Changes settings while the server runs. Open sessions continue without losing frames: a limit
  /// below the current use refuses new sessions until enough of them have closed.
  ///
  /// These settings take effect; all others are ignored:
  /// - `maxSessions`, `quotas.sessions`, `maxLoad`: for new sessions.
  /// - `framesInFlight`: for new sessions; open sessions keep the number that they were granted.
  /// - `maxConsecutiveErrors`, `customFilterTimeout`: immediately.
  /// - `resumeKeys`, `resumeTokenLifetime`: for tokens that are signed or presented from now on. If
  ///   the server started without keys, open sessions don't get tokens.
  /// - `quotas` of frames and bytes: immediately, also for open sessions.
  /// - `permissions`: for new sessions and calls, and for the next change of an open session's
  ///   pipeline. Until then a session keeps its pipeline. Call ``validate(_:)`` first.
  /// - `identity`: for new calls. ``reloadCertificates(_:)`` replaces certificates.
  /// - `guards`: the limits of connections and unfinished messages immediately, all others for new
  ///   connections and calls. The set of guards and the drain time do not change.
  public func reconfigure(_ configuration: ServerConfiguration) {
    self.engine.reconfigure(configuration)
    self.identity = configuration.identity
    self.guards.reconfigure(configuration.guards)
  }

  /// Checks the settings that depend on the server's filters.
  ///
  /// - Throws: `ConfigurationError` if a range of `permissions` names an unknown filter or
  ///   parameter.
  public func validate(_ configuration: ServerConfiguration) throws(ConfigurationError) {
    try configuration.permissions.validate(with: self.engine.compiler.catalogue)
  }
}
