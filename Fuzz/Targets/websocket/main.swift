import FuzzDriver
import NIOCore
import SidelightTransport

// The frames of a client on a WebSocket: the events must be the same for bytes that arrive at once
// and in pieces, and a message never exceeds the limit. The first byte is the size of the pieces.

let limits: WebSocketReader.Limits = {
  var limits = WebSocketReader.Limits(maxMessageBytes: 1 << 16)
  limits.maxFragments = 64
  return limits
}()

/// The events of bytes that arrive in pieces, and the violation that ends them.
func events(
  of bytes: [UInt8], inPiecesOf size: Int
) -> (events: [WebSocketEvent], violation: WebSocketViolation?) {
  var reader = WebSocketReader(limits: limits)
  var events: [WebSocketEvent] = []
  var rest = bytes[...]
  while !rest.isEmpty {
    var piece = ByteBuffer(bytes: rest.prefix(size))
    rest = rest.dropFirst(size)
    do throws(WebSocketViolation) {
      while let event = try reader.next(from: &piece) {
        let count: Int? =
          switch event {
          case .frame(let count): count
          case .message(let message): message.readableBytes
          default: nil
          }
        precondition((count ?? 0) <= limits.maxMessageBytes, "a message exceeds the limit")
        events.append(event)
      }
    } catch {
      return (events, error)
    }
    precondition(piece.readableBytes == 0, "bytes are left")
  }
  return (events, nil)
}

fuzz { input in
  let bytes = input.withUnsafeBytes { [UInt8]($0) }
  guard let first = bytes.first else { return }
  let content = Array(bytes.dropFirst())
  let whole = events(of: content, inPiecesOf: .max)
  let pieces = events(of: content, inPiecesOf: 1 + Int(first % 32))
  precondition(whole.events == pieces.events, "pieces change the events")
  precondition(whole.violation == pieces.violation, "pieces change the violation")
}
