import CSharedMemory

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The calls that a companion socket takes, on either side.
package enum CompanionSocket {
  /// Connects; sending and receiving then take at most a second each.
  package static func connect(to path: String) throws(SharedMemoryError) -> OwnedDescriptor {
    try Self.descriptor(csm_connect(path, 1000), "connecting to \(path)")
  }

  /// Takes the next connection that waits; `nil` if none does.
  package static func accept(
    on listener: OwnedDescriptor
  ) throws(SharedMemoryError) -> OwnedDescriptor? {
    let result = csm_accept(listener.number)
    if [-EAGAIN, -ECONNABORTED, -EINTR].contains(result) { return nil }
    return try Self.descriptor(result, "accepting a companion connection")
  }

  /// The user that the process at the other end runs as.
  package static func peerUserID(
    of connection: OwnedDescriptor
  ) throws(SharedMemoryError) -> UInt32 {
    var user: UInt32 = 0
    let result = csm_peer(connection.number, &user)
    guard result == 0 else {
      throw SharedMemoryError("asking who is at the other end", code: -result)
    }
    return user
  }

  /// Answers, with a ring's memory if there is one.
  package static func answer(
    _ answer: CompanionAnswer, _ memory: OwnedDescriptor? = nil, on connection: OwnedDescriptor
  ) throws(SharedMemoryError) {
    let result = csm_send(connection.number, [answer.rawValue], 1, memory?.number ?? -1)
    guard result == 0 else {
      throw SharedMemoryError("answering a companion connection", code: -result)
    }
  }

  /// Asks a server for a ring's memory. Blocks for at most about two seconds.
  ///
  /// - Returns: The server's answer, with the memory if it says so; `nil` for an answer that is none.
  package static func fetch(
    _ hello: CompanionHello, at path: String
  ) throws(SharedMemoryError) -> (answer: CompanionAnswer?, memory: OwnedDescriptor?) {
    let connection = try Self.connect(to: path)
    let bytes = hello.bytes
    // A server that is busy may have answered and gone.
    _ = csm_send(connection.number, bytes, bytes.count, -1)
    var byte: UInt8 = 0
    var descriptor: CInt = -1
    let result = csm_receive(connection.number, &byte, &descriptor)
    let memory = descriptor < 0 ? nil : OwnedDescriptor(descriptor)
    guard result >= 0 else { throw SharedMemoryError("reading from \(path)", code: -result) }
    return (result == 0 ? nil : CompanionAnswer(rawValue: byte), memory)
  }

  private static func descriptor(
    _ result: CInt, _ action: @autoclosure () -> String
  ) throws(SharedMemoryError) -> OwnedDescriptor {
    guard result >= 0 else { throw SharedMemoryError(action(), code: -result) }
    return OwnedDescriptor(result)
  }
}
