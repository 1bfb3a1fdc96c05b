import Crypto
import Foundation
import GRPCCore

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
