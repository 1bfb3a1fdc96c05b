/// The limits on a server's peers. The defaults do not affect well-behaved clients, and bound the
/// cost of others; `docs/design/reliability.md` explains the purpose of each limit.
public struct GuardConfiguration: Sendable, Hashable {
  /// - `maxConnections` (count, default: 2048): connections at a time, over all addresses.
  public var maxConnections = 2048
  /// - `maxConnectionsPerAddress` (count, default: 512): connections of one address at a time. All
  ///   clients of a Unix socket count as one.
  public var maxConnectionsPerAddress = 512
  /// - `prefaceTimeout` (duration, default: 4 s): the time in which a connection must have begun to
  ///   speak HTTP/2, which includes the TLS handshake.
  public var prefaceTimeout = Duration.seconds(4)
  /// - `keepaliveInterval` (duration, default: 6 s): the silence after which the server sends a
  ///   PING.
  public var keepaliveInterval = Duration.seconds(6)
  /// - `keepaliveTimeout` (duration, default: 6 s): the time that a peer then has to send anything.
  public var keepaliveTimeout = Duration.seconds(6)
  /// - `writeStallTimeout` (duration, default: 12 s): the time in which a peer must read written
  ///   bytes: any of a connection; of a call a megabyte, or all of them.
  public var writeStallTimeout = Duration.seconds(12)
  /// - `lingerTimeout` (duration, default: 4 s): the time that a client has to close its side of a
  ///   call after the status.
  public var lingerTimeout = Duration.seconds(4)
  /// - `pingsPerSecond` (count, default: 250): the rate of PINGs that a connection may send.
  ///   grpc-go sends one per burst of data that it receives.
  public var pingsPerSecond = 250
  /// - `pingBurst` (count, default: 1000): PINGs that a connection may send at once. PINGs beyond
  ///   the limits are left to HTTP/2, which closes the connection.
  public var pingBurst = 1000
  /// - `maxUnfinishedBytes` (bytes, default: 2 GiB): the announced bytes of unfinished messages,
  ///   over all addresses. Messages under 64 KiB do not count. A second budget of the same size
  ///   bounds still images that wait or are filtered.
  public var maxUnfinishedBytes = 2 << 30
  /// - `maxUnfinishedBytesPerAddress` (bytes, default: 512 MiB): the same of one address. All
  ///   clients behind a proxy share one address.
  public var maxUnfinishedBytesPerAddress = 512 << 20
  /// - `maxControlMessageBytes` (bytes, default: 1 MiB): the maximum size of a message without
  ///   pixels, and of a message with pixels not counting the pixels.
  public var maxControlMessageBytes = 1 << 20
  /// - `maxMessageFields` (count, default: 8192): fields of a message, nested messages included. A
  ///   pipeline of 64 stages may have 128 fields per stage.
  public var maxMessageFields = 8192

  /// The time after the beginning of a shutdown at which connections are closed. `nil` is the
  /// server's `closeTimeout`.
  package var drainTimeout: Duration?
  /// The active guards. Tests disable some.
  package var active = Set(Guard.allCases)

  /// The defaults.
  public init() {}
}

/// The guards against hostile or broken peers. They compensate for weaknesses of the packages
/// below; tests disable single guards to show that they are effective.
package enum Guard: String, CaseIterable, Sendable {
  /// Connections are counted, in total and by address, and closed at once beyond the limits.
  case connectionCap
  /// A connection that does not begin to speak HTTP/2 in time is closed; with TLS that includes the
  /// handshake.
  case preface
  /// A silent peer gets a PING, and is closed if it doesn't respond.
  case keepalive
  /// A connection whose peer stops reading from its socket is closed.
  case connectionStall
  /// PINGs are answered within a budget: HTTP/2's own limit closes clients that measure the
  /// bandwidth, as grpc-go does.
  case pings
  /// A connection that repeatedly abandons calls is closed. HTTP/2's own limit would be reached a
  /// little later, and leaves memory behind.
  case resets
  /// A frame that waited to be written until its call was over is left out: HTTP/2 reports it as an
  /// error, and the connection would be closed with all its calls.
  case lateFrames
  /// A shutdown waits for a connection for a limited time.
  case drain
  /// `grpc-timeout` is read by the guard: gRPC traps on negative values, ignores legal values of
  /// eight digits, and doesn't send a status at the deadline.
  case deadline
  /// Messages that are too long are refused with a status before a byte of them is stored.
  case messageSize
  /// The bytes of unfinished messages are limited, in total and by address.
  case unfinishedMessages
  /// Compressed messages are refused with a status: the server doesn't accept them, and gRPC would
  /// reset the stream.
  case compression
  /// Messages with too many fields are refused with a status before they are decoded: an empty
  /// sub-message of two bytes takes a hundred times as many in memory.
  case messageFields
  /// The messages of a call are delivered in batches, one per poll of the event loop: a frame of a
  /// hundred thousand small messages would keep all other connections of the loop waiting.
  case messageBatches
  /// A call that ends within a message gets an error status instead of OK.
  case truncatedMessage
  /// A call that ends with its headers ends, instead of waiting until the connection closes.
  case emptyCall
  /// A call whose peer stops reading written bytes is reset.
  case callStall
  /// A call with a status is closed, whether or not the client closes its side.
  case linger
}
