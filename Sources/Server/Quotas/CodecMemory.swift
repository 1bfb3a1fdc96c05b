import GRPCCore
import GRPCProtobuf
import Synchronization

/// The memory of the video codecs of a caller's sessions, as ``Quotas/codecBytes`` limits it.
final class CodecMemory: Sendable {
  /// A part of the memory, which is free again when the reservation is released.
  final class Reservation: Sendable {
    private let memory: CodecMemory
    private let byteCount: Int

    fileprivate init(_ memory: CodecMemory, _ byteCount: Int) {
      self.memory = memory
      self.byteCount = byteCount
    }

    deinit {
      self.memory.state.withLock { $0.reserved -= self.byteCount }
    }
  }

  private struct State {
    var limit: Int
    var reserved = 0
  }

  private let state: Mutex<State>

  /// - Parameter limit: The maximum in bytes.
  init(limit: Int) {
    self.state = Mutex(State(limit: limit))
  }

  /// Changes the limit. Reservations that exceed it stay.
  func change(limit: Int) {
    self.state.withLock { $0.limit = limit }
  }

  /// Reserves memory for a decoder or an encoder.
  ///
  /// - Throws: RESOURCE_EXHAUSTED, which names the limit, if the caller's codecs would exceed it.
  func reserve(_ byteCount: Int) throws(GoogleRPCStatus) -> Reservation {
    let (exceeded, limit) = self.state.withLock { state in
      let isExceeded = byteCount > state.limit - state.reserved
      if !isExceeded { state.reserved += byteCount }
      return (isExceeded, state.limit)
    }
    guard !exceeded else {
      let description = "codec_bytes is \(limit); another codec would take \(byteCount)"
      throw GoogleRPCStatus(
        code: .resourceExhausted,
        message: "The caller's video codecs would exceed their memory: \(description).",
        details: .quotaFailure(violations: [
          .init(subject: "codec_bytes", description: description)
        ]))
    }
    return Reservation(self, byteCount)
  }
}
