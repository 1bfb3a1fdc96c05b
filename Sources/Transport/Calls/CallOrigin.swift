package import GRPCCore
package import GRPCProtobuf
import NIOCore
import Synchronization

/// The connection and the channel that a call came on, as its handlers and interceptors see them in
/// `ServerContext.transportSpecific`.
package struct CallOrigin: ServerContext.TransportSpecific {
  package var connection: Connection
  /// The transport's own value of `transportSpecific`, which this one replaces.
  package var transport: (any ServerContext.TransportSpecific)?
  /// The HTTP/2 stream of the call.
  private let stream: any Channel
  private let store: OutboundMessageStore
  let cancellation: CallCancellation

  init(
    connection: Connection, stream: any Channel, store: OutboundMessageStore,
    cancellation: CallCancellation
  ) {
    self.connection = connection
    self.stream = stream
    self.store = store
    self.cancellation = cancellation
  }

  /// Ends the call with a status, and cancels its handler.
  package func end(_ status: GoogleRPCStatus) {
    let pipeline = self.stream.pipeline
    let refusal = CallRefusal(guardName: nil, status: status)
    self.stream.eventLoop.execute { pipeline.fireUserInboundEventTriggered(refusal) }
  }

  /// Returns the store of the call's large messages.
  package func makeCallMessages() -> OutboundMessageStore.CallMessages {
    let messages = self.store.makeCallMessages()
    // A writer on another thread may end before the last of its messages has reached the channel.
    self.stream.closeFuture.whenComplete { _ in withExtendedLifetime(messages) {} }
    return messages
  }
}

/// The properties of a connection that its calls may know.
package struct Connection: Sendable {
  /// The unique number of the connection within its listener.
  let number: UInt64
  /// The process at the other end; for Unix sockets only.
  package let credentials: PeerCredentials?
  /// The certificate that the client has shown in TLS's handshake, if any. Known when the first
  /// call begins.
  package var certificate: PeerCertificate?
  /// Runs tasks on the event loop of the connection.
  let executor: EventLoopExecutor
}

/// The cancellation of a call's handler from the call's channel.
///
/// The channel exists before gRPC runs the handler, so a cancellation may come before the handle is
/// known.
final class CallCancellation: Sendable {
  private struct State {
    var handle: ServerContext.RPCCancellationHandle?
    var isCancelled = false
  }

  private let state = Mutex(State())

  /// Sets the handle that cancels the handler. Cancels the handler at once if the call is already
  /// cancelled.
  func attach(_ handle: ServerContext.RPCCancellationHandle) {
    let isCancelled = self.state.withLock { state in
      state.handle = handle
      return state.isCancelled
    }
    if isCancelled { handle.cancel() }
  }

  /// Cancels the handler, now or when it begins.
  func cancel() {
    let handle = self.state.withLock { state in
      state.isCancelled = true
      return state.handle
    }
    handle?.cancel()
  }
}
