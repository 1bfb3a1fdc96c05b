package import NIOCore
package import SidelightWire
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

/// A limit on how often a connection may do something.
package typealias RateBudget = TokenBucket

extension TokenBucket {
  package init(perSecond: Double, burst: Int, at now: NIODeadline) {
    self.init(perSecond: perSecond, burst: Double(burst), at: now.sinceStart)
  }

  /// Takes 1 if it may be taken now.
  ///
  /// - Returns: Whether it was taken.
  package mutating func take(at now: NIODeadline) -> Bool {
    guard self.permits(1, at: now.sinceStart) else { return false }
    self.take(1)
    return true
  }
}

extension NIODeadline {
  fileprivate var sinceStart: Duration { .nanoseconds(Int64(clamping: self.uptimeNanoseconds)) }
}
