import SidelightTransport

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
