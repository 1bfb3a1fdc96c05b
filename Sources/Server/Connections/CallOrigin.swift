import GRPCCore

/// What a call knows of where it came from.
struct CallOrigin: ServerContext.TransportSpecific {
  /// Its connection.
  var connection: Connection
  /// What the transport itself says, such as a certificate.
  var transport: (any ServerContext.TransportSpecific)?
}

extension ServerContext {
  /// Whose call it is.
  var caller: Caller {
    let origin = self.transportSpecific as? CallOrigin
    return Caller(peer: self.remotePeer, credentials: origin?.connection.credentials)
  }
}
