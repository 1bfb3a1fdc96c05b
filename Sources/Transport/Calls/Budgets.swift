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
  ///   - limit: The maximum amount in total.
  ///   - limitPerAddress: The maximum amount for one address.
  package init(limit: Int, limitPerAddress: Int) {
    self.state = Mutex(State(limit: limit, limitPerAddress: limitPerAddress))
  }

  /// Applies other limits from now on. An address that exceeds its limit keeps its reservations.
  func setLimits(limit: Int, limitPerAddress: Int) {
    self.state.withLock { state in
      state.limit = limit
      state.limitPerAddress = limitPerAddress
    }
  }

  /// Reserves an amount, which must be released.
  ///
  /// - Returns: Whether the amount was available. Otherwise the reserved amount doesn't change.
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

  /// Releases an amount.
  package func release(_ amount: Int, for address: String) {
    self.state.withLock { state in
      state.total -= amount
      let own = state.byAddress[address, default: 0] - amount
      state.byAddress[address] = own > 0 ? own : nil
    }
  }
}

/// A limit on how often a connection may do something: a token bucket with a burst and a rate.
package struct RateBudget: Sendable {
  private let perSecond: Double
  private let burst: Double
  private var tokens: Double
  private var last: NIODeadline

  package init(perSecond: Double, burst: Int, at now: NIODeadline) {
    self.perSecond = perSecond
    self.burst = Double(burst)
    self.tokens = Double(burst)
    self.last = now
  }

  /// Takes a token.
  ///
  /// - Returns: Whether one was available.
  package mutating func take(at now: NIODeadline) -> Bool {
    let elapsed = Double((now - self.last).nanoseconds) / 1e9
    self.last = now
    self.tokens = min(self.burst, self.tokens + elapsed * self.perSecond)
    guard self.tokens >= 1 else { return false }
    self.tokens -= 1
    return true
  }
}
