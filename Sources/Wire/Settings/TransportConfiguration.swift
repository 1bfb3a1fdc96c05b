/// How frames travel: the same for server and client. The defaults are for video; gRPC's own are for
/// messages of a few kilobytes, and carry a twelfth of the frames. `docs/reference/transport.md` says what each
/// was measured to do.
///
/// Values out of range are refused where the configuration is used, with a ``ConfigurationFault``.
public struct TransportConfiguration: Sendable, Hashable {
  /// The threads on which calls are served.
  public enum Executor: String, Sendable, Hashable, CaseIterable {
    /// The event loop that carries the call's connection: no frame changes threads on its way to the
    /// session and from it. Filters run elsewhere in any case.
    case eventLoops
    /// Swift's own pool of threads. A connection's streams are then served on several processors,
    /// at the price of two changes of thread a message.
    case concurrent
  }

  /// When bytes that were written go out.
  public struct FlushCoalescing: Sendable, Hashable {
    /// How long a flush may wait for more bytes, 1 us to 100 ms.
    public var delay: Duration
    /// The bytes from which on it does not wait, 1 KiB to 16 MiB.
    public var bytes: Int

    /// - Parameters:
    ///   - delay: How long a flush may wait for more bytes, 1 us to 100 ms.
    ///   - bytes: The bytes from which on it does not wait, 1 KiB to 16 MiB.
    public init(delay: Duration = .microseconds(100), bytes: Int = 64 << 10) {
      self.delay = delay
      self.bytes = bytes
    }
  }

  /// - `maxMessageBytes` (bytes, default: 64 MiB, range: 64 KiB-1 GiB): the largest message in either
  ///   direction. A 4K BGRA frame has 33 MB.
  public var maxMessageBytes = 64 << 20
  /// - `streamWindowBytes` (bytes, default: 4 MiB, range: 64 KiB to 2 GiB - 1): HTTP/2's flow-control
  ///   window of one stream. Below 1 MiB large frames wait for window updates; above 4 MiB nothing is
  ///   gained, and stale bytes pile up.
  public var streamWindowBytes = 4 << 20
  /// - `http2FrameBytes` (bytes, default: 256 KiB, range: 16 KiB to 16 MiB - 1): the largest HTTP/2
  ///   frame.
  public var http2FrameBytes = 256 << 10
  /// - `maxConcurrentStreams` (count, default: 128, range: 1-65536): streams that one connection may
  ///   have at a time. Always stated to the peer: left out, the stack below enforces a limit that it
  ///   never announced. A client does not use it.
  public var maxConcurrentStreams = 128
  /// - `receiveBufferBytes` (bytes, default: 256 KiB, range: 4 KiB-16 MiB): what is read from a socket
  ///   at a time.
  public var receiveBufferBytes = 256 << 10
  /// - `flushCoalescing` (optional, default: none): what is written goes out at once, or waits a little
  ///   for more.
  public var flushCoalescing: FlushCoalescing?
  /// - `executor` (default: ``Executor/eventLoops``): the threads on which calls are served.
  public var executor = Executor.eventLoops
  /// - `eventLoops` (count, optional, default: those that the process shares, one a processor; range:
  ///   1-1024): threads that carry connections. Each connection belongs to one of them.
  public var eventLoops: Int?
  /// - `unixSocketBufferBytes` (bytes, optional, default: the system's; range: 4 KiB-64 MiB): the
  ///   kernel's buffers of a Unix socket, each way. Those of TCP tune themselves.
  public var unixSocketBufferBytes: Int?
  /// - `connections` (count, optional, default: one for each session; range: 1-1024): connections over
  ///   which a client spreads its sessions; none has more than one above another. A server does not use
  ///   it.
  public var connections: Int?
  /// - `allocator` (default: ``AllocatorSettings/frames``): how the C allocator treats buffers of frame
  ///   size. It concerns the whole process, so `sidelight serve` applies it; a program that embeds
  ///   server or client calls ``AllocatorSettings/apply()`` itself, first of all.
  public var allocator = AllocatorSettings.frames

  /// The defaults, which are ``latency``.
  public init() {}
}
