import NIOCore
import Synchronization

/// Large outbound messages, for which handles of 32 bytes pass through gRPC. For the
/// pattern see enterpriseintegrationpatterns.com/patterns/messaging/StoreInLibrary.html.
///
/// gRPC copies every message behind its prefix, however large. A serializer that leaves the message
/// here gives gRPC 32 bytes to copy, and ``MessageSubstitutionHandler``, between gRPC and HTTP/2,
/// replaces them with the message. One store serves all connections of a listener, or of a client.
package final class OutboundMessageStore: Sendable {
  /// The messages of one call. It must be kept for as long as the call's channel is open; messages
  /// that are left then are not sent, and are released.
  package final class CallMessages: Sendable {
    fileprivate let store: OutboundMessageStore
    fileprivate let call: UInt64

    fileprivate init(_ store: OutboundMessageStore, _ call: UInt64) {
      self.store = store
      self.call = call
    }

    deinit {
      _ = self.store.state.withLock { $0.messages.removeValue(forKey: self.call) }
    }

    /// Stores a message until its handle is sent.
    func insert(_ message: FramedMessage) -> MessageHandle {
      let number = self.store.state.withLock { state in
        defer { state.nextNumber += 1 }
        state.messages[self.call]?[state.nextNumber] = message
        return state.nextNumber
      }
      return MessageHandle(secret: self.store.secret, call: self.call, number: number)
    }
  }

  private struct State {
    /// By call and number.
    var messages: [UInt64: [UInt64: FramedMessage]] = [:]
    var nextCall: UInt64 = 0
    var nextNumber: UInt64 = 0
  }

  private let secret = SIMD2<UInt64>(.random(in: 0 ... .max), .random(in: 0 ... .max))
  private let state = Mutex(State())

  package init() {}

  package func makeCallMessages() -> CallMessages {
    CallMessages(
      self,
      self.state.withLock { state in
        defer { state.nextCall += 1 }
        state.messages[state.nextCall] = [:]
        return state.nextCall
      })
  }

  /// A handle of this store whose message was sent before, or released.
  struct UnknownHandle: Error {}

  /// Removes a message.
  ///
  /// - Returns: `nil` if the handle is not one of this store.
  /// - Throws: ``UnknownHandle``.
  func remove(_ handle: MessageHandle) throws(UnknownHandle) -> FramedMessage? {
    guard handle.secret == self.secret else { return nil }
    let message = self.state.withLock {
      $0.messages[handle.call]?.removeValue(forKey: handle.number)
    }
    guard let message else { throw UnknownHandle() }
    return message
  }

  /// The number of stored messages.
  package var messageCount: Int {
    self.state.withLock { $0.messages.values.reduce(0) { $0 + $1.count } }
  }
}

/// The bytes that pass through gRPC instead of a message in an ``OutboundMessageStore``.
struct MessageHandle: Hashable, Sendable {
  /// The length of a handle.
  static let byteCount = 32

  /// Random bits that identify the store. Peers don't know them, and cannot send a message that
  /// looks like a handle.
  var secret: SIMD2<UInt64>
  /// The call that stored the message.
  var call: UInt64
  var number: UInt64

  init(secret: SIMD2<UInt64>, call: UInt64, number: UInt64) {
    self.secret = secret
    self.call = call
    self.number = number
  }

  /// Reads the bytes at an offset as a handle.
  ///
  /// - Returns: `nil` if the buffer is too short.
  init?(at offset: Int, of buffer: ByteBuffer) {
    guard
      let (first, second, call, number) = buffer.getMultipleIntegers(
        at: offset, as: (UInt64, UInt64, UInt64, UInt64).self)
    else { return nil }
    self.init(secret: SIMD2(first, second), call: call, number: number)
  }

  /// The bytes that gRPC sends.
  var bytes: ByteBuffer {
    var buffer = ByteBuffer()
    buffer.writeMultipleIntegers(self.secret[0], self.secret[1], self.call, self.number)
    return buffer
  }
}
