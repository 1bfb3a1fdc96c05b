import SidelightWire
import Synchronization

/// Collects a server's messages, for calls that end with an error.
final class Answers: Sendable {
  private let collected = Mutex<[Sidelight_V1_ServerMessage]>([])
  /// Ends when the server closes the stream.
  let ended: AsyncStream<Never>
  private let ending: AsyncStream<Never>.Continuation

  init() {
    (self.ended, self.ending) = AsyncStream.makeStream()
  }

  var messages: [Sidelight_V1_ServerMessage] { self.collected.withLock { $0 } }

  func add(_ message: Sidelight_V1_ServerMessage) {
    self.collected.withLock { $0.append(message) }
  }

  func end() {
    self.ending.finish()
  }
}
