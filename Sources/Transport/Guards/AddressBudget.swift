import NIOCore
import Synchronization

/// Something that is shared out to peers, in all and by address: connections, or bytes. Shared by a
/// server's listeners.
final class AddressBudget: Sendable {
  private struct State {
    var limit: Int
    var limitPerAddress: Int
    var total = 0
    var ofAddress: [String: Int] = [:]
  }

  private let state: Mutex<State>

  /// - Parameters:
  ///   - limit: The most that may be taken.
  ///   - limitPerAddress: The most of it by one address.
  init(limit: Int, limitPerAddress: Int) {
    self.state = Mutex(State(limit: limit, limitPerAddress: limitPerAddress))
  }

  /// Shares out so much from now on. Who has more keeps it, and gets no more.
  func adopt(limit: Int, limitPerAddress: Int) {
    self.state.withLock { state in
      state.limit = limit
      state.limitPerAddress = limitPerAddress
    }
  }

  /// Takes so much more. What was taken must be given back.
  ///
  /// - Returns: Whether there is as much; else nothing is taken.
  func take(_ amount: Int, for address: String) -> Bool {
    self.state.withLock { state in
      let own = state.ofAddress[address, default: 0]
      guard amount <= state.limit - state.total, amount <= state.limitPerAddress - own else {
        return false
      }
      state.total += amount
      state.ofAddress[address] = own + amount
      return true
    }
  }

  /// Gives back what was taken.
  func giveBack(_ amount: Int, for address: String) {
    self.state.withLock { state in
      state.total -= amount
      let own = state.ofAddress[address, default: 0] - amount
      state.ofAddress[address] = own > 0 ? own : nil
    }
  }
}

extension Channel {
  /// The peer's address without its port; all peers of a Unix socket have one name.
  var peerAddress: String { self.remoteAddress?.ipAddress ?? "unix" }

  /// The peer as gRPC names it: `ipv4:192.0.2.1:50123`. Peers of a Unix socket have the socket's.
  var peerName: String {
    switch self.remoteAddress {
    case .v4: "ipv4:\(self.peerAddress):\(self.remoteAddress?.port ?? 0)"
    case .v6: "ipv6:[\(self.peerAddress)]:\(self.remoteAddress?.port ?? 0)"
    default: "unix:\(self.localAddress?.pathname ?? "")"
    }
  }
}
