import NIOCore

/// Asks for a connection to be closed without any manners: TLS would wait for the peer to say goodbye.
/// ``ConnectionEndHandler`` does it.
struct CutOff {
  /// Who asks; `nil`: the server, which ends.
  var by: Guard?
}

extension ChannelHandlerContext {
  /// Closes the connection without manners.
  func cutOff(by which: Guard) {
    self.triggerUserOutboundEvent(CutOff(by: which), promise: nil)
  }
}
