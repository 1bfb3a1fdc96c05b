import Synchronization

/// Slots of a ring that a picture was written into, by their addresses.
final class FilledSlots: Sendable {
  private let addresses = Mutex<Set<UInt>>([])

  /// - Returns: Whether the slot is new.
  func insert(_ address: UInt) -> Bool {
    self.addresses.withLock { $0.insert(address).inserted }
  }
}
