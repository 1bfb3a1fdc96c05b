package import NIOCore
import Synchronization

/// A quantity that peers share, in total and by address: connections, or bytes. A server's
/// listeners share one.
package final class AddressBudget: Sendable {
  private struct State {
    var limit: Int
    var limitPerAddress: Int
    var total = 0
    var byAddress: [String: Int] = [:]
  }

  private let state: Mutex<State>

  /// - Parameters:
  ///   - limit: The most that may be taken in total.
  ///   - limitPerAddress: The most that one address may take.
  package init(limit: Int, limitPerAddress: Int) {
    self.state = Mutex(State(limit: limit, limitPerAddress: limitPerAddress))
  }

  /// Applies other limits from now on. Addresses that have more keep it, and get no more.
  func setLimits(limit: Int, limitPerAddress: Int) {
    self.state.withLock { state in
      state.limit = limit
      state.limitPerAddress = limitPerAddress
    }
  }

  /// Takes an amount, which must be given back.
  ///
  /// - Returns: Whether the amount was left; otherwise nothing is taken.
  package func reserve(_ amount: Int, for address: String) -> Bool {
    self.state.withLock { state in
      let own = state.byAddress[address, default: 0]
      guard amount <= state.limit - state.total, amount <= state.limitPerAddress - own else {
        return false
      }
      state.total += amount
      state.byAddress[address] = own + amount
      return true
    }
  }

  /// Gives an amount back.
  package func release(_ amount: Int, for address: String) {
    self.state.withLock { state in
      state.total -= amount
      let own = state.byAddress[address, default: 0] - amount
      state.byAddress[address] = own > 0 ? own : nil
    }
  }
}

/// A limit on how often a connection may do something: a burst at once, and a rate for ever.
package struct RateBudget: Sendable {
  private let perSecond: Double
  private let burst: Double
  private var left: Double
  private var last: NIODeadline

  package init(perSecond: Double, burst: Int, at now: NIODeadline) {
    self.perSecond = perSecond
    self.burst = Double(burst)
    self.left = Double(burst)
    self.last = now
  }

  /// Takes one.
  ///
  /// - Returns: Whether one was left.
  package mutating func take(at now: NIODeadline) -> Bool {
    let elapsed = Double((now - self.last).nanoseconds) / 1e9
    self.last = now
    self.left = min(self.burst, self.left + elapsed * self.perSecond)
    guard self.left >= 1 else { return false }
    self.left -= 1
    return true
  }
}
