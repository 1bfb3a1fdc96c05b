import Synchronization

/// Keeps large messages while claim checks go through gRPC in their place.
///
/// gRPC copies every message behind its prefix, however large. A serializer that leaves the message here
/// gives it 32 bytes to copy, and ``ClaimRedeemer``, between gRPC and HTTP/2, puts the message where they
/// stand. One desk serves all connections of a listener, or of a client.
package final class ClaimDesk: Sendable {
  /// What one call's writer has left here. To be kept as long as the call's channel is open: what is still
  /// here then will not be written, and is given up.
  package final class Deposits: Sendable {
    fileprivate let desk: ClaimDesk
    fileprivate let depositor: UInt64

    fileprivate init(_ desk: ClaimDesk, _ depositor: UInt64) {
      self.desk = desk
      self.depositor = depositor
    }

    deinit {
      _ = self.desk.state.withLock { $0.messages.removeValue(forKey: self.depositor) }
    }

    /// Keeps a message until its check is redeemed.
    func leave(_ message: FramedMessage) -> ClaimCheck {
      let number = self.desk.state.withLock { state in
        defer { state.nextNumber += 1 }
        state.messages[self.depositor]?[state.nextNumber] = message
        return state.nextNumber
      }
      return ClaimCheck(secret: self.desk.secret, depositor: self.depositor, number: number)
    }
  }

  private struct State {
    /// By depositor and number.
    var messages: [UInt64: [UInt64: FramedMessage]] = [:]
    var nextDepositor: UInt64 = 0
    var nextNumber: UInt64 = 0
  }

  private let secret = SIMD2<UInt64>(.random(in: 0 ... .max), .random(in: 0 ... .max))
  private let state = Mutex(State())

  package init() {}

  /// A place for one writer's messages.
  package func deposits() -> Deposits {
    Deposits(
      self,
      self.state.withLock { state in
        defer { state.nextDepositor += 1 }
        state.messages[state.nextDepositor] = [:]
        return state.nextDepositor
      })
  }

  /// A check of this desk whose message is not here: it was redeemed, or is given up.
  struct Unredeemable: Error {}

  /// Gives a message out.
  ///
  /// - Returns: `nil` if the check is none of this desk.
  /// - Throws: ``Unredeemable``.
  func redeem(_ check: ClaimCheck) throws(Unredeemable) -> FramedMessage? {
    guard check.secret == self.secret else { return nil }
    let message = self.state.withLock {
      $0.messages[check.depositor]?.removeValue(forKey: check.number)
    }
    guard let message else { throw Unredeemable() }
    return message
  }

  /// How many messages lie here.
  package var messageCount: Int {
    self.state.withLock { $0.messages.values.reduce(0) { $0 + $1.count } }
  }
}
