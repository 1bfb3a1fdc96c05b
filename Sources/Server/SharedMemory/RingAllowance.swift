import GRPCCore
import SidelightWire
import Synchronization

/// Bounds the memory of all rings of a server. What a ring takes comes back when it is not mapped any
/// more: after its session, once the last frame in a slot is gone.
final class RingAllowance: Sendable {
  private let maxSessionBytes: Int
  private let maxBytes: Int
  private let taken = Mutex(0)

  init(maxSessionBytes: Int, maxBytes: Int) {
    self.maxSessionBytes = maxSessionBytes
    self.maxBytes = maxBytes
  }

  /// Bytes of the rings that are mapped.
  var bytesTaken: Int { self.taken.withLock { $0 } }

  /// A ring is about to be mapped.
  ///
  /// - Throws: ``FieldFault``, RESOURCE_EXHAUSTED, if it is beyond a limit.
  func take(_ byteCount: Int) throws(FieldFault) {
    guard byteCount <= self.maxSessionBytes else {
      throw Self.fault("it would have \(byteCount) bytes, the limit is \(self.maxSessionBytes)")
    }
    let rest = self.taken.withLock { taken in
      let rest = self.maxBytes - taken
      if byteCount <= rest { taken += byteCount }
      return rest
    }
    guard byteCount <= rest else {
      throw Self.fault(
        "it would have \(byteCount) bytes, of the \(self.maxBytes) for all sessions \(rest) are left"
      )
    }
  }

  /// A ring is not mapped any more.
  func giveBack(_ byteCount: Int) {
    self.taken.withLock { $0 -= byteCount }
  }

  private static func fault(_ reason: String) -> FieldFault {
    FieldFault(code: .resourceExhausted, field: "open.shared_memory", reason: reason)
  }
}
