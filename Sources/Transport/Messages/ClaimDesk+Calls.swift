package import NIOCore

extension ClaimDesk {
  /// Puts up, on a call's channel, what hands messages on whole and uncopied: next to gRPC's own
  /// handlers, which stand. To be called on its event loop, before other handlers are put up.
  ///
  /// - Parameter maxMessageBytes: The most bytes of a message that gRPC takes.
  package func serve(call channel: any Channel, maxMessageBytes: Int) throws {
    try channel.pipeline.syncOperations.addHandlers(
      [MessageAssembler(maxMessageBytes: maxMessageBytes), ClaimRedeemer(self)], position: .first)
  }
}
