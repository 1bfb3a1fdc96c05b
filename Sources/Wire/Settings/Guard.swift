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
