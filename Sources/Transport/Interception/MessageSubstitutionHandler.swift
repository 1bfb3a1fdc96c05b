package import NIOCore
import NIOHTTP2

/// The outbound handler next to gRPC on a call: replaces message handles with the messages in the
/// store.
final class MessageSubstitutionHandler: ChannelOutboundHandler {
  typealias OutboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = OutboundCallPart

  private let store: OutboundMessageStore

  init(_ store: OutboundMessageStore) {
    self.store = store
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let payload = self.unwrapOutboundIn(data)
    guard case .data(let content) = payload, case .byteBuffer(let framed) = content.data else {
      return context.write(self.wrapOutboundOut(.other(payload)), promise: promise)
    }
    do {
      let pieces = try self.pieces(of: framed)
      context.write(
        self.wrapOutboundOut(.messages(pieces, endStream: content.endStream)), promise: promise)
    } catch {
      // Closing the call is better than sending a wrong message.
      promise?.fail(error)
      context.close(promise: nil)
    }
  }

  /// Returns the bytes to write for consecutive messages that gRPC has framed.
  ///
  /// - Throws: `OutboundMessageStore.UnknownHandle`.
  private func pieces(of framed: ByteBuffer) throws -> [ByteBuffer] {
    var pieces: [ByteBuffer] = []
    var rest = framed
    /// The offset of the next message in `rest`.
    var offset = 0
    while let length = rest.getInteger(at: rest.readerIndex + offset + 1, as: UInt32.self) {
      let next = offset + MessagePrefix.byteCount + Int(length)
      if length == MessageHandle.byteCount,
        let handle = MessageHandle(
          at: rest.readerIndex + offset + MessagePrefix.byteCount, of: rest),
        let message = try self.store.remove(handle)
      {
        if let before = rest.readSlice(length: offset), offset > 0 { pieces.append(before) }
        rest.moveReaderIndex(forwardBy: next - offset)
        pieces += message.pieces
        offset = 0
      } else {
        offset = next
      }
    }
    if rest.readableBytes > 0 || pieces.isEmpty { pieces.append(rest) }
    return pieces
  }
}

extension OutboundMessageStore {
  /// Adds the handlers of a call that pass messages on whole and without copies.
  ///
  /// It must be called on the channel's event loop, when gRPC's own handlers are in place. From
  /// HTTP/2 to gRPC: ``CallWriter``, ``MessageReader``, the guards of a server,
  /// ``MessageAssembler``, ``MessageSubstitutionHandler``.
  ///
  /// - Parameter maxMessageBytes: The largest message that gRPC accepts.
  package func addHandlers(toCall channel: any Channel, maxMessageBytes: Int) throws {
    try self.addHandlers(
      toCall: channel, maxMessageBytes: maxMessageBytes, writer: CallWriter(),
      reader: MessageReader())
  }

  /// Adds the same handlers with the guards of a server.
  func addHandlers(
    toCall channel: any Channel, maxMessageBytes: Int, writer: CallWriter, reader: MessageReader,
    guards: [any ChannelHandler] = []
  ) throws {
    let next: [any ChannelHandler] = [
      MessageAssembler(maxMessageBytes: maxMessageBytes), MessageSubstitutionHandler(self),
    ]
    try channel.pipeline.syncOperations.addHandlers(
      [writer, reader] + guards + next, position: .first)
  }
}
