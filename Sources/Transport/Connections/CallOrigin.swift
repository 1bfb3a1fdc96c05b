import GRPCCore
import NIOCore
import SidelightWire

/// What a call knows of where it came from.
struct CallOrigin: ServerContext.TransportSpecific {
  /// Its connection.
  var connection: Connection
  /// The HTTP/2 stream that carries it.
  var stream: any Channel
  /// Where its large messages are left until they are written.
  var claims: ClaimDesk
  /// Who calls; `nil` if this server asks nobody, or has not asked yet.
  var principal: Principal?
  /// What the transport itself says.
  var transport: (any ServerContext.TransportSpecific)?

  /// Ends the call with a status, whatever its handler does.
  func end(_ refusal: CallRefusal) {
    let pipeline = self.stream.pipeline
    self.stream.eventLoop.execute { pipeline.fireUserInboundEventTriggered(refusal) }
  }
}

extension ServerContext {
  /// Whose call it is.
  var caller: Caller {
    let origin = self.transportSpecific as? CallOrigin
    return Caller(
      peer: self.remotePeer, credentials: origin?.connection.credentials,
      principal: origin?.principal)
  }

  /// A place for the messages of a call's writer; `nil` if its transport knows of none.
  func deposits() -> ClaimDesk.Deposits? {
    guard let origin = self.transportSpecific as? CallOrigin else { return nil }
    let deposits = origin.claims.deposits()
    // A writer on another thread may end before the last of what it wrote has reached the channel.
    origin.stream.closeFuture.whenComplete { _ in withExtendedLifetime(deposits) {} }
    return deposits
  }
}
