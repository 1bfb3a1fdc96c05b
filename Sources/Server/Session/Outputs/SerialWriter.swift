import DequeModule
import GRPCCore
import SidelightTransport
import SidelightWire
import Synchronization

/// A writer of a call's messages for several tasks: one message at a time, in the order in which
/// they are requested.
final class SerialWriter: Sendable {
  typealias Message = OutgoingMessage<Sidelight_V1_ServerMessage>

  private struct State {
    var isWriting = false
    var waiting: Deque<CheckedContinuation<Void, Never>> = []
  }

  private let writer: RPCWriter<Message>
  private let state = Mutex(State())

  init(_ writer: RPCWriter<Message>) {
    self.writer = writer
  }

  func write(_ message: Message) async throws {
    try await self.write { message }
  }

  /// Writes the message that a function returns when it is its turn.
  ///
  /// - Parameter message: Returns `nil` if the message must not be written any more.
  func write(_ message: () throws -> Message?) async throws {
    await self.begin()
    // A task that waits is resumed even after an error: its own write fails too.
    defer { self.end() }
    guard let message = try message() else { return }
    try await self.writer.write(message)
  }

  private func begin() async {
    await withCheckedContinuation { continuation in
      let begins = self.state.withLock { state in
        guard state.isWriting else {
          state.isWriting = true
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if begins { continuation.resume() }
    }
  }

  private func end() {
    let next = self.state.withLock { state in
      let next = state.waiting.popFirst()
      if next == nil { state.isWriting = false }
      return next
    }
    next?.resume()
  }
}
