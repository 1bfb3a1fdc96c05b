import SidelightKernels
public import SidelightWire

/// How a server listens, and what it accepts.
public struct ServerConfiguration: Sendable, Hashable {
  /// - `addresses` (default: `127.0.0.1:50051`): where to listen, all at once. TCP addresses are IP
  ///   addresses or `localhost`.
  public var addresses: [Address] = [.tcp(host: "127.0.0.1", port: 50051)]
  /// - `listeningDescriptors` (default: none): sockets that listen at `addresses` already, one for each in
  ///   their order (``ListeningSocket``). The server takes them over. None: it binds the addresses itself.
  ///   Files of Unix sockets are left to whoever bound them.
  public var listeningDescriptors: [Int32] = []
  /// - `unixSocketPermissions` (mode, default: 0600, the owner): who may connect to Unix sockets: those
  ///   who may write the file.
  public var unixSocketPermissions: UInt16 = 0o600
  /// - `tls` (default: none): how TCP addresses are secured. None: they are not.
  public var tls: ServerTLS?
  /// Who may call by what his connection proves.
  public var identity = IdentityConfiguration()
  /// What one caller may use.
  public var quotas = Quotas()
  /// How frames travel.
  public var transport = TransportConfiguration()
  /// What peers may do.
  public var guards = GuardConfiguration()
  /// - `maxFramePixels` (count, default: 36 million, a little more than 8K UHD): the largest frame.
  public var maxFramePixels = 36_000_000
  /// - `maxSessions` (count, default: 256): sessions at a time; `open` beyond is refused with
  ///   RESOURCE_EXHAUSTED.
  public var maxSessions = 256
  /// - `maxLoad` (ratio, optional, default: 2.0): `open` is refused with RESOURCE_EXHAUSTED while the
  ///   frames that arrive ask for more than this part of what the compute threads can do; 2.0 means
  ///   that every second frame is lost already. None: never for load.
  public var maxLoad: Double? = 2
  /// - `framesInFlight` (count, default: 4, range: 1-64): frames of a session that may be without
  ///   outcome: one on the wire each way, one in the lane, one in the mailbox.
  public var framesInFlight = 4
  /// - `maxConsecutiveErrors` (count, default: 30): invalid frames and refused messages in a row, after
  ///   which a session ends.
  public var maxConsecutiveErrors = 30
  /// - `customFilterTimeout` (duration, default: 2 s): how long a filter of your own may take where
  ///   frames have no budget (else ten times the budget); then the failure policy applies. An analysis
  ///   that takes longer is told of with an `error`, and is not asked again until it comes back.
  public var customFilterTimeout = Duration.seconds(2)
  /// - `drainTimeout` (duration, default: 5 s): how long sessions may take to finish when the server
  ///   shuts down. Those that remain are cut off with UNAVAILABLE; connections that do not take even
  ///   that are closed a second later.
  public var drainTimeout = Duration.seconds(5)
  /// - `resumeKeys` (default: a random one): the first signs resume tokens, all are accepted. Servers
  ///   that share them resume each other's sessions. None: nothing is resumed.
  public var resumeKeys = [ResumeKey.random()]
  /// - `resumeTokenLifetime` (duration, default: 5 min, at least 10 s): how long a resume token is good. Clients get a
  ///   new one after half of it. It is also the time for which another server of a fleet may accept a token
  ///   from before an operator's override.
  public var resumeTokenLifetime = Duration.seconds(300)
  /// - `computeThreads` (count, default: the processors): threads that filter.
  public var computeThreads = ComputePool.processorCount
  /// - `computeNiceness` (0-19, default: 10): how readily the threads that filter let those that carry
  ///   gRPC go first.
  public var computeNiceness = 10
  /// - `sharedMemory` (default: none): whether and how pixels are exchanged in shared memory with
  ///   clients on this host. None: they travel inline.
  public var sharedMemory: SharedMemoryConfiguration?
  /// What callers may put, and for how long it is kept.
  public var assets = AssetConfiguration()
  /// - `maxPlanBytes` (bytes, default: 256 MiB): what a pipeline may hold in memory beside the frames that
  ///   it works on, for one size of frames: images that are laid over them, fields that vary over them.
  ///   Two images over the whole of 4K frames have 133 MB. Frames whose pipeline holds more get the failure policy, stills
  ///   RESOURCE_EXHAUSTED.
  public var maxPlanBytes = 256 << 20
  /// - `maxTotalPlanBytes` (bytes, default: 1 GiB): what the pipelines of all sessions may hold together.
  ///   Those of less than 64 KiB do not count.
  public var maxTotalPlanBytes = 1 << 30
  /// - `maxIdlePoolBytes` (bytes, default: 256 MiB): idle frame buffers that are kept.
  public var maxIdlePoolBytes = 256 << 20
  /// - `releaseMemoryAfter` (duration, optional, default: 10 s, at least 100 ms): how often memory that
  ///   nothing needs goes back to the system: frame buffers that were idle all that time; and what is free
  ///   on the heap, when nothing happened all that time, or while frames come if it is more than an
  ///   eighth of what is in memory. The first frames after that pay for fresh pages. None: it never does.
  public var releaseMemoryAfter: Duration? = .seconds(10)

  /// The defaults.
  public init() {}

  /// - Throws: ``ConfigurationFault`` if sockets are given, but not one for each address.
  func validateDescriptors() throws(ConfigurationFault) {
    let (count, wanted) = (self.listeningDescriptors.count, self.addresses.count)
    guard count == 0 || count == wanted else {
      throw ConfigurationFault(
        setting: "listeningDescriptors", value: "\(count) sockets",
        range: "none, or \(wanted): one for each address")
    }
  }
}
