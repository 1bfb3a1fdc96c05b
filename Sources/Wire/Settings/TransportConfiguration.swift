/// The settings of connections, for server and client. The defaults are for video; gRPC's own are
/// for messages of a few kilobytes, and carry a twelfth of the frames.
/// `docs/reference/transport.md` has the measured effect of every setting.
///
/// A server or client with a value out of range throws a ``ConfigurationError``.
public struct TransportConfiguration: Sendable, Hashable {
  /// The threads on which calls are served.
  public enum Executor: String, Sendable, Hashable, CaseIterable {
    /// The event loop of the call's connection: frames stay on one thread on their way to the
    /// session and back. Filters always run on other threads.
    case eventLoops
    /// Swift's shared pool of threads. The streams of a connection are then served on several
    /// processors, at the cost of two changes of thread per message.
    case concurrent
  }

  /// The time at which written bytes are sent.
  public struct FlushCoalescing: Sendable, Hashable {
    /// The time that a flush may wait for more bytes, 1 us to 100 ms.
    public var delay: Duration
    /// The number of bytes from which a flush does not wait, 1 KiB to 16 MiB.
    public var bytes: Int

    /// - Parameters:
    ///   - delay: The time that a flush may wait for more bytes, 1 us to 100 ms.
    ///   - bytes: The number of bytes from which a flush does not wait, 1 KiB to 16 MiB.
    public init(delay: Duration = .microseconds(100), bytes: Int = 64 << 10) {
      self.delay = delay
      self.bytes = bytes
    }
  }

  /// - `maxMessageBytes` (bytes, default: 64 MiB, range: ``maxMessageBytesRange``): the largest
  ///   message in either direction. A 4K BGRA frame has 33 MB.
  public var maxMessageBytes = 64 << 20
  /// The range of ``maxMessageBytes``: 64 KiB to 1 GiB.
  public static let maxMessageBytesRange = 64 << 10 ... 1 << 30
  /// - `streamWindowBytes` (bytes, default: 4 MiB, range: ``streamWindowBytesRange``): HTTP/2's
  ///   flow-control window of one stream. Below 1 MiB large frames wait for window updates; above 4
  ///   MiB throughput stays the same, and late frames accumulate.
  public var streamWindowBytes = 4 << 20
  /// The range of ``streamWindowBytes``: 64 KiB to the largest window of RFC 9113, 2^31 - 1.
  public static let streamWindowBytesRange = 64 << 10 ... 1 << 31 - 1
  /// - `http2FrameBytes` (bytes, default: 256 KiB, range: 16 KiB to 16 MiB - 1): the largest HTTP/2
  ///   frame.
  public var http2FrameBytes = 256 << 10
  /// - `maxConcurrentStreams` (count, default: 128, range: 1-65536): concurrent streams of one
  ///   connection. Always announced to the peer: without a value HTTP/2 enforces a limit that it
  ///   has not announced. A client does not use it.
  public var maxConcurrentStreams = 128
  /// - `receiveBufferBytes` (bytes, default: 256 KiB, range: 4 KiB-16 MiB): the bytes that are read
  ///   from a socket at a time.
  public var receiveBufferBytes = 256 << 10
  /// - `flushCoalescing` (optional, default: `nil`): `nil` sends written bytes at once; otherwise
  ///   they may wait for more.
  public var flushCoalescing: FlushCoalescing?
  /// - `executor` (default: ``Executor/eventLoops``): the threads on which calls are served.
  public var executor = Executor.eventLoops
  /// - `eventLoops` (count, optional, default: the process's shared ones, one a processor; range:
  ///   1-1024): threads that carry connections. A connection belongs to one of them.
  public var eventLoops: Int?
  /// - `unixSocketBufferBytes` (bytes, optional, default: the system's; range: 4 KiB-64 MiB): the
  ///   kernel's buffers of a Unix socket, in either direction. The kernel adapts TCP buffers
  ///   automatically.
  public var unixSocketBufferBytes: Int?
  /// - `congestionControl` (text, optional, default: `bbr` where the system offers it, otherwise the
  ///   system's default; range: 1-15 bytes): the congestion control of TCP, by its name in the
  ///   system, such as `cubic`. It controls what this side sends. Linux only.
  public var congestionControl: String?
  /// - `connections` (count, optional, default: one per session; range: 1-1024): the connections
  ///   that a client's sessions share evenly. A server does not use it.
  public var connections: Int?

  /// The defaults, which are ``latency``.
  public init() {}
}

extension TransportConfiguration {
  /// A configuration with a name.
  public enum Profile: String, Sendable, Hashable, CaseIterable {
    /// For live video: the lowest end-to-end latency.
    case latency
    /// For many streams on few connections, and for offline jobs.
    case throughput

    /// The configuration of that name.
    public var configuration: TransportConfiguration {
      switch self {
      case .latency: .latency
      case .throughput: .throughput
      }
    }
  }

  /// For live video: calls are served on the event loops, and bytes are sent at once.
  public static let latency = TransportConfiguration()

  /// For many streams on few connections, and for offline jobs: calls are served on all processors,
  /// and small writes are sent together.
  public static let throughput: TransportConfiguration = {
    var configuration = TransportConfiguration()
    configuration.executor = .concurrent
    configuration.flushCoalescing = FlushCoalescing()
    return configuration
  }()

  /// The profile with exactly these settings, if any.
  public var profile: Profile? { Profile.allCases.first { $0.configuration == self } }
}

extension TransportConfiguration {
  /// Checks that all settings are in range.
  ///
  /// - Throws: ``ConfigurationError`` that names the first setting that is out of its range.
  public func validate() throws(ConfigurationError) {
    try check("maxMessageBytes", self.maxMessageBytes, Self.maxMessageBytesRange)
    try check("streamWindowBytes", self.streamWindowBytes, Self.streamWindowBytesRange)
    // RFC 9113, 6.5.2: the largest frame is 2^24 - 1.
    try check("http2FrameBytes", self.http2FrameBytes, 16 << 10 ... 1 << 24 - 1)
    try check("maxConcurrentStreams", self.maxConcurrentStreams, 1 ... 65536)
    try check("receiveBufferBytes", self.receiveBufferBytes, 4 << 10 ... 16 << 20)
    if let flush = self.flushCoalescing {
      try check("flushCoalescing.delay", flush.delay, .microseconds(1) ... .milliseconds(100))
      try check("flushCoalescing.bytes", flush.bytes, 1 << 10 ... 16 << 20)
    }
    try check("eventLoops", self.eventLoops, 1 ... 1024)
    try check("unixSocketBufferBytes", self.unixSocketBufferBytes, 4 << 10 ... 64 << 20)
    if let name = self.congestionControl, !(1 ... 15).contains(name.utf8.count) {
      throw ConfigurationError(
        setting: "transport.congestionControl", value: name, range: "a name of 1 to 15 bytes")
    }
    try check("connections", self.connections, 1 ... 1024)
  }

  private func check<Value: Comparable>(
    _ setting: String, _ value: Value?, _ range: ClosedRange<Value>
  ) throws(ConfigurationError) {
    guard let value, !range.contains(value) else { return }
    throw ConfigurationError(
      setting: "transport.\(setting)", value: "\(value)",
      range: "\(range.lowerBound) to \(range.upperBound)")
  }
}

/// A setting whose value is out of its range.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The setting, by its path: `transport.streamWindowBytes`.
  public let setting: String
  /// Its value.
  public let value: String
  /// The allowed values.
  public let range: String

  /// Creates an error.
  public init(setting: String, value: String, range: String) {
    self.setting = setting
    self.value = value
    self.range = range
  }

  /// The setting, its value, and the allowed values.
  public var description: String {
    "\(self.setting) is \(self.value), the range is \(self.range)"
  }
}
