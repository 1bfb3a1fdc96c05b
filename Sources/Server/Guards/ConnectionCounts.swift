import Synchronization

/// How many connections stand, in all and of each address. Shared by a server's listeners.
final class ConnectionCounts: Sendable {
  private struct State {
    var total = 0
    var ofAddress: [String: Int] = [:]
  }

  private let state = Mutex(State())
  private let limit: Int
  private let limitPerAddress: Int

  /// - Parameters:
  ///   - limit: The most that may stand.
  ///   - limitPerAddress: The most of them of one address.
  init(limit: Int, limitPerAddress: Int) {
    self.limit = limit
    self.limitPerAddress = limitPerAddress
  }

  /// Counts one more. Each `true` asks for one ``leave(_:)``.
  ///
  /// - Returns: Whether there is room for it; else it is not counted.
  func enter(_ address: String) -> Bool {
    self.state.withLock { state in
      let own = state.ofAddress[address, default: 0]
      guard state.total < self.limit, own < self.limitPerAddress else { return false }
      state.total += 1
      state.ofAddress[address] = own + 1
      return true
    }
  }

  /// One has gone.
  func leave(_ address: String) {
    self.state.withLock { state in
      state.total -= 1
      state.ofAddress[address] = state.ofAddress[address].flatMap { $0 > 1 ? $0 - 1 : nil }
    }
  }
}
