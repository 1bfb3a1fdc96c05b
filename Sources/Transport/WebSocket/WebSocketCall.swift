import Crypto
import Foundation
import GRPCCore
import GRPCProtobuf
import NIOCore

/// The call of a WebSocket, as its handshake describes it.
struct WebSocketCall {
  let descriptor: MethodDescriptor
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

/// The opening handshake of a WebSocket (RFC 6455, 4.2).
struct WebSocketHandshake {
  /// The subprotocol of calls: `docs/reference/websocket.md`.
  static let subprotocol = "sidelight.v1"

  /// The headers of the request that become metadata of the call.
  private static let metadataHeaders = ["traceparent", "tracestate", "baggage", "user-agent"]
  private static let keySuffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

  /// The value of `sec-websocket-accept`.
  let accept: String
  /// The time until the call's deadline; `nil` if the request doesn't state one.
  let timeout: Duration?
  /// The metadata of the call, without its authorization.
  private(set) var metadata: Metadata = [:]

  /// Whether a request asks for a WebSocket.
  static func isRequested(by request: WebRequest) -> Bool {
    request.elements(of: "upgrade").contains { $0.lowercased() == "websocket" }
  }

  /// Reads a request.
  ///
  /// - Throws: ``Refusal`` with the response, if the request isn't a valid handshake.
  init(_ request: WebRequest) throws(Refusal) {
    guard request.method == "GET",
      request.elements(of: "connection").contains(where: { $0.lowercased() == "upgrade" })
    else { throw Refusal(.text(400, "A WebSocket needs GET and 'Connection: Upgrade'.")) }
    guard request.value(of: "sec-websocket-version") == "13" else {
      var response = WebResponse.text(426, "The version of WebSocket must be 13.")
      response.headers.append(("sec-websocket-version", "13"))
      throw Refusal(response)
    }
    guard let key = request.value(of: "sec-websocket-key"), Data(base64Encoded: key)?.count == 16
    else { throw Refusal(.text(400, "Sec-WebSocket-Key must be 16 bytes in Base64.")) }
    guard request.elements(of: "sec-websocket-protocol").contains(Self.subprotocol) else {
      throw Refusal(.text(400, "The WebSocket must offer the subprotocol \(Self.subprotocol)."))
    }
    // The protocol demands SHA-1 without relying on its strength.
    let digest = Insecure.SHA1.hash(data: Data((key + Self.keySuffix).utf8))
    self.accept = Data(digest).base64EncodedString()
    self.timeout = request.value(of: "grpc-timeout").flatMap(CallDeadline.duration(header:))
    for name in Self.metadataHeaders {
      for value in request.values(of: name) { self.metadata.addString(value, forKey: name) }
    }
  }

  /// The refusal of a handshake.
  struct Refusal: Error {
    let response: WebResponse

    init(_ response: WebResponse) {
      self.response = response
    }
  }
}
