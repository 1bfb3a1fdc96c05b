/// What a peer may do to a server. The defaults leave honest clients alone and bound what others cost;
/// README and docs/design/reliability.md tell what each is for.
public struct GuardConfiguration: Sendable, Hashable {
  /// - `maxConnections` (count, default: 2048): connections at a time, over all addresses.
  public var maxConnections = 2048
  /// - `maxConnectionsPerAddress` (count, default: 512): connections of one address at a time. All
  ///   clients of a Unix socket count as one.
  public var maxConnectionsPerAddress = 512
  /// - `prefaceTimeout` (duration, default: 4 s): the time in which a connection must have begun to
  ///   speak HTTP/2, with TLS after its handshake.
  public var prefaceTimeout = Duration.seconds(4)
  /// - `keepaliveInterval` (duration, default: 6 s): the silence after which a peer is asked for a sign
  ///   of life.
  public var keepaliveInterval = Duration.seconds(6)
  /// - `keepaliveTimeout` (duration, default: 6 s): the time a peer has to give it.
  public var keepaliveTimeout = Duration.seconds(6)
  /// - `writeStallTimeout` (duration, default: 12 s): the time in which a peer must take some of what
  ///   is written to it: of a connection anything, of a call a megabyte, or all there is.
  public var writeStallTimeout = Duration.seconds(12)
  /// - `lingerTimeout` (duration, default: 4 s): the time a client has to close its side of a call that
  ///   has its status.
  public var lingerTimeout = Duration.seconds(4)
  /// - `drainTimeout` (duration, default: 8 s): the time after the begin of a shutdown at which
  ///   connections are cut off.
  public var drainTimeout = Duration.seconds(8)
  /// - `pingsPerSecond` (count, default: 250): PINGs that a connection may send for ever. grpc-go sends
  ///   one for each burst of data that it receives.
  public var pingsPerSecond = 250
  /// - `pingBurst` (count, default: 1000): PINGs that a connection may send at once. Those beyond are
  ///   left to the stack below, which closes the connection.
  public var pingBurst = 1000
  /// - `maxUnfinishedBytes` (bytes, default: 2 GiB): what messages that have begun and not ended may come
  ///   to, over all addresses, as they announce it. Those under 64 KiB do not count. The same again bounds
  ///   still images that wait for their turn or are filtered.
  public var maxUnfinishedBytes = 2 << 30
  /// - `maxUnfinishedBytesPerAddress` (bytes, default: 512 MiB): the same of one address. Behind a proxy
  ///   all clients are one.
  public var maxUnfinishedBytesPerAddress = 512 << 20
  /// - `maxControlMessageBytes` (bytes, default: 1 MiB): the largest message without pixels, and the most
  ///   that a message with pixels may have beside them.
  public var maxControlMessageBytes = 1 << 20
  /// - `maxMessageFields` (count, default: 8192): fields of a message, with those of the messages in it. A
  ///   pipeline of 64 stages has room for 128 fields in each.
  public var maxMessageFields = 8192

  /// Those that stand; tests take some away.
  package var active = Set(Guard.allCases)

  /// The defaults.
  public init() {}
}

/// What stands between a hostile or broken peer and the server. Each mends a weakness of the stack
/// below, and can be taken away by tests, to show that it is what holds.
package enum Guard: String, CaseIterable, Sendable {
  /// Connections are counted, in all and by address; those beyond are closed as they come.
  case connectionCap
  /// A connection that does not begin to speak HTTP/2 in time is closed; with TLS that includes the
  /// handshake.
  case preface
  /// A peer that says nothing is asked for a sign of life, and closed when none comes.
  case keepalive
  /// A connection whose peer takes nothing off its socket is closed.
  case connectionStall
  /// PINGs are answered here, within a budget: the stack's own limit cuts off clients that measure
  /// the bandwidth as they send, as grpc-go does.
  case pings
  /// A connection that gives up one call after the other is closed. The stack's own limit would be met a
  /// little later, and leaves memory behind.
  case resets
  /// A frame that waited to be written until its call was over is left out: the stack takes it for a
  /// mistake, and closes the connection with all its calls.
  case lateFrames
  /// A shutdown waits for a connection no longer than it may.
  case drain
  /// `grpc-timeout` is read here: the stack traps on negative values, loses legal ones of eight digits,
  /// and sends no status when the time is over.
  case deadline
  /// Messages that are too long are refused with a status before a byte of them is kept.
  case messageSize
  /// Of messages that have begun and not ended only so many bytes are kept, in all and by address.
  case unfinishedMessages
  /// Compressed messages are refused with a status: none is accepted, and the stack resets the stream.
  case compression
  /// Messages with too many fields are refused with a status before they are decoded: an empty
  /// sub-message of two bytes takes a hundred times as many in memory.
  case messageFields
  /// The messages of a call are delivered in batches, one for each poll of the event loop: a frame of a
  /// hundred thousand small messages would keep every other connection of the loop waiting.
  case messageBatches
  /// A call that ends within a message gets a status that says so, and not OK.
  case truncatedMessage
  /// A call that ends with its headers comes to its end, in place of waiting until the connection
  /// closes.
  case emptyCall
  /// A call whose peer takes nothing that is written to it is reset.
  case callStall
  /// A call that has its status is closed, whether or not the client closes its side.
  case linger
}
