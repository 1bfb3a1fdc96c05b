import Synchronization

/// The slots of a ring that contain the picture, by address.
final class FilledSlots: Sendable {
  private let addresses = Mutex<Set<UInt>>([])

  /// - Returns: Whether the slot is new.
  func insert(_ address: UInt) -> Bool {
    self.addresses.withLock { $0.insert(address).inserted }
  }
}
