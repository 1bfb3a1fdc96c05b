import Foundation
import GRPCCore
import GRPCProtobuf
import NIOCore
import SidelightWire

/// The call of a WebSocket, as its handshake describes it.
struct WebSocketCall {
  /// The method.
  let descriptor: MethodDescriptor
  /// The metadata of the call.
  let metadata: Metadata
  /// The time until the call's deadline; `nil` disables the deadline.
  let timeout: Duration?
  /// The connection and channel of the call.
  let origin: CallOrigin
  /// The large messages of all calls.
  let store: OutboundMessageStore
  /// Cancels the call's handler.
  let cancellation: CallCancellation
}

/// The limits on the client of a WebSocket, as its listener's guards state them.
struct WebSocketLimits {
  /// The limits of the server.
  var configuration: GuardConfiguration
  /// The limits on the messages of the method.
  var messages: CallLimits
  /// The maximum size of any method's messages in bytes.
  var maxTransportBytes: Int
  /// The ticks of the server's event loops; `nil` delivers messages as they arrive.
  var ticks: EventLoopTicks?
  /// The budget for the bytes of unfinished messages; `nil` disables it.
  var unfinished: AddressBudget?
  /// The pings that the client may send; `nil` disables the limit.
  var pings: RateBudget?
  /// The client's address.
  var address: String
  /// Counts the actions of the guards.
  var counters: ConnectionCounters

  /// The maximum size of a message in bytes.
  var maxBytes: Int { self.messages.maxBytes }

  /// The time in which the client must take written bytes; `nil` disables the limit.
  var writeStallTimeout: Duration? {
    self.configuration.active.contains(.callStall) ? self.configuration.writeStallTimeout : nil
  }

  /// Checks the fields of a complete message.
  ///
  /// - Returns: The reason to end the call; `nil` if the message is accepted.
  func refusal(of message: ByteBuffer) -> CallRefusal? {
    guard self.configuration.active.contains(.messageFields), let shape = self.messages.shape
    else { return nil }
    do throws(ProtobufBounds.Violation) {
      try ProtobufBounds.check(
        message.readableBytesUInt8Span, as: shape, maxFields: self.configuration.maxMessageFields)
      return nil
    } catch {
      return .finding(.tooComplex(error), self.messages)
    }
  }
}

/// The end of a call, as a WebSocket reports it.
struct CallEnd: Encodable {
  private static let detailsKey = "grpc-status-details-bin"

  /// The code of the status.
  let code: Int
  /// The message of the status.
  let message: String
  /// `google.rpc.Status`, serialized, in Base64; empty for a status without details.
  let details: String

  init(code: Int, message: String, _ metadata: Metadata) {
    self.code = code
    self.message = message
    let details = metadata[binaryValues: Self.detailsKey].first { _ in true }
    self.details = Data(details ?? []).base64EncodedString()
  }

  init(_ status: GoogleRPCStatus) {
    self.init(
      code: status.rpcErrorCode.rawValue, message: status.rpcErrorMessage,
      status.rpcErrorMetadata)
  }

  /// The text message of a status that is not OK.
  var text: ByteBuffer? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(self)).map { ByteBuffer(bytes: $0) }
  }
}

extension RPCError {
  /// The error of a call whose client has left.
  static var abandoned: RPCError {
    RPCError(code: .cancelled, message: "The client has closed the WebSocket.")
  }
}

extension OutboundMessageStore {
  /// Replaces a handle with its message, without gRPC's prefix.
  ///
  /// - Returns: `nil` if the bytes are not a handle of this store.
  /// - Throws: ``UnknownHandle``.
  func message(for bytes: ByteBuffer) throws(UnknownHandle) -> [ByteBuffer]? {
    guard bytes.readableBytes == MessageHandle.byteCount,
      let handle = MessageHandle(at: bytes.readerIndex, of: bytes),
      var pieces = try self.remove(handle)?.pieces
    else { return nil }
    // The first piece begins with the prefix.
    pieces[0].moveReaderIndex(forwardBy: MessagePrefix.byteCount)
    return pieces.filter { $0.readableBytes > 0 }
  }
}

/// The progress of a client that takes written bytes (``Guard/callStall``). It must be used on the
/// channel's event loop.
final class WriteStallDetector {
  private let timeout: Duration?
  private var detector: StallDetector
  private var timer = EventLoopTimer()
  private var isChecking = false
  private var written = 0
  /// The bytes that the client has taken.
  var taken = 0

  /// - Parameter timeout: The time in which the client must take bytes; `nil` disables the limit.
  init(timeout: Duration?) {
    self.timeout = timeout
    self.detector = StallDetector(timeout: timeout ?? .zero)
  }

  /// Whether the client has not taken everything.
  var isWaiting: Bool { self.taken != self.written }

  /// Records bytes that are about to be written.
  ///
  /// - Parameter onStall: Called when the client has been stalled for too long.
  func write(_ count: Int, on eventLoop: any EventLoop, onStall: @escaping () -> Void) {
    if !self.isWaiting { self.detector.begin(at: .now()) }
    self.written += count
    guard self.timeout != nil, !self.isChecking else { return }
    self.isChecking = true
    self.check(on: eventLoop, onStall)
  }

  /// Ends the detection.
  func cancel() { self.timer.cancel() }

  private func check(on eventLoop: any EventLoop, _ onStall: @escaping () -> Void) {
    self.timer.start(in: self.detector.interval, on: eventLoop) {
      if !self.isWaiting {
        self.isChecking = false
      } else if self.detector.isStalled(taken: self.taken, at: .now()) {
        onStall()
      } else {
        self.check(on: eventLoop, onStall)
      }
    }
  }
}
