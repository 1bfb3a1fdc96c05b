package import NIOCore

/// Knows whether HTTP/2 decodes what came, at this moment. What it then finds wrong is wrong with what the
/// peer has said; at any other time, with what is to be written. Stands next below HTTP/2.
package final class DecodingWatch: ChannelInboundHandler {
  package typealias InboundIn = ByteBuffer

  /// Whether HTTP/2 decodes what came.
  package private(set) var isDecoding = false

  package init() {}

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    self.note(true) { context.fireChannelRead(data) }
  }

  package func channelWritabilityChanged(context: ChannelHandlerContext) {
    // This may come in the midst of decoding, and what waited is written now.
    self.note(false) { context.fireChannelWritabilityChanged() }
  }

  private func note(_ isDecoding: Bool, during body: () -> Void) {
    let before = self.isDecoding
    self.isDecoding = isDecoding
    defer { self.isDecoding = before }
    body()
  }
}
