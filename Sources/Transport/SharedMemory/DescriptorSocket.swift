import CSharedMemory
import Foundation

/// The system calls of a descriptor socket, on either side.
package enum DescriptorSocket {
  /// Connects, with a timeout of one second for sending and for receiving.
  package static func connect(to path: String) throws(SharedMemoryError) -> OwnedDescriptor {
    try Self.descriptor(csm_connect(path, 1000), "connecting to \(path)")
  }

  /// Accepts the next connection; returns `nil` if no connection is waiting.
  package static func accept(
    on listener: OwnedDescriptor
  ) throws(SharedMemoryError) -> OwnedDescriptor? {
    let result = csm_accept(listener.number)
    if [-EAGAIN, -ECONNABORTED, -EINTR].contains(result) { return nil }
    return try Self.descriptor(result, "accepting a connection on the descriptor socket")
  }

  /// Returns the user of the process at the other end.
  package static func peerUserID(
    of connection: OwnedDescriptor
  ) throws(SharedMemoryError) -> UInt32 {
    var user: UInt32 = 0
    let result = csm_peer(connection.number, &user)
    guard result == 0 else {
      throw SharedMemoryError("reading the credentials of the peer", code: -result)
    }
    return user
  }

  /// Sends an answer, optionally with the memory of a ring.
  package static func answer(
    _ answer: DescriptorAnswer, _ memory: OwnedDescriptor? = nil, on connection: OwnedDescriptor
  ) throws(SharedMemoryError) {
    let result = csm_send(connection.number, [answer.rawValue], 1, memory?.number ?? -1)
    guard result == 0 else {
      throw SharedMemoryError("answering on the descriptor socket", code: -result)
    }
  }

  /// Asks a server for the memory of a ring. Blocks for at most about two seconds.
  ///
  /// - Returns: The server's answer, `nil` if it is unknown, and the memory if it accompanies the
  ///   answer.
  package static func fetch(
    _ hello: DescriptorHello, at path: String
  ) throws(SharedMemoryError) -> (answer: DescriptorAnswer?, memory: OwnedDescriptor?) {
    let connection = try Self.connect(to: path)
    let bytes = hello.bytes
    // A busy server may have answered and closed the connection.
    _ = csm_send(connection.number, bytes, bytes.count, -1)
    var byte: UInt8 = 0
    var descriptor: CInt = -1
    let result = csm_receive(connection.number, &byte, &descriptor)
    let memory = descriptor < 0 ? nil : OwnedDescriptor(descriptor)
    guard result >= 0 else { throw SharedMemoryError("reading from \(path)", code: -result) }
    return (result == 0 ? nil : DescriptorAnswer(rawValue: byte), memory)
  }

  private static func descriptor(
    _ result: CInt, _ action: @autoclosure () -> String
  ) throws(SharedMemoryError) -> OwnedDescriptor {
    guard result >= 0 else { throw SharedMemoryError(action(), code: -result) }
    return OwnedDescriptor(result)
  }
}

/// A client's request on the descriptor socket, which names a ring.
///
/// One byte, the version, 1; the token's 32 bytes; one byte, the length of the session's name; the
/// name. The server answers with one byte, a ``DescriptorAnswer``, and closes the connection.
package struct DescriptorHello: Sendable, Hashable {
  /// The token from `Opened`.
  package var token: [UInt8]
  /// The session's name from `Opened`.
  package var sessionID: String

  package static let tokenBytes = 32
  private static let version: UInt8 = 1
  private static let nameStart = 2 + Self.tokenBytes
  /// The bytes of the longest request.
  package static let maxBytes = Self.nameStart + Int(UInt8.max)

  /// - Precondition: The token has 32 bytes, and the name at most 255.
  package init(token: [UInt8], sessionID: String) {
    precondition(token.count == Self.tokenBytes && sessionID.utf8.count <= Int(UInt8.max))
    self.token = token
    self.sessionID = sessionID
  }

  /// The encoded request.
  package var bytes: [UInt8] {
    [Self.version] + self.token + [UInt8(self.sessionID.utf8.count)] + Array(self.sessionID.utf8)
  }

  /// The result of reading received bytes.
  package enum Reading: Sendable, Hashable {
    /// The request is incomplete.
    case incomplete
    /// The bytes are not a request.
    case malformed
    case complete(DescriptorHello)
  }

  /// Reads the bytes that have been received.
  package static func read(_ bytes: [UInt8]) -> Reading {
    if let version = bytes.first, version != Self.version { return .malformed }
    guard bytes.count >= Self.nameStart else { return .incomplete }
    let end = Self.nameStart + Int(bytes[Self.nameStart - 1])
    guard bytes.count <= end else { return .malformed }
    guard bytes.count == end else { return .incomplete }
    guard let sessionID = String(validating: bytes[Self.nameStart...], as: UTF8.self) else {
      return .malformed
    }
    return .complete(
      DescriptorHello(token: Array(bytes[1 ..< Self.nameStart - 1]), sessionID: sessionID))
  }
}

/// The answer of a server on the descriptor socket, in one byte.
package enum DescriptorAnswer: UInt8, Sendable, Hashable, CaseIterable {
  /// The ring's descriptor accompanies this byte.
  case ring = 0
  /// The token is invalid: never issued, used before, expired, or another session's. Or the request
  /// was malformed.
  case refused = 1
  /// The process runs as a user that the server passes no rings to.
  case notPermitted = 2
  /// Too many connections are open.
  case busy = 3
}
