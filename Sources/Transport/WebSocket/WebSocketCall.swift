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
