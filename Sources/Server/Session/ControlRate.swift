import SidelightWire

/// Bounds what the control messages of one session may cost: everything that a client sends but frames.
///
/// Messages are never refused for their rate. A client that exceeds it is held back: the next control
/// message, and everything behind it, is read when there is room for it again. Acknowledgements that
/// answer a frame are free, since there are no more of them than frames.
///
/// A message costs 1 unit, and a message that changes or restates the pipeline 1 more for each of its
/// stages. A burst may spend at once what ``ContractLimits`` allows for a second.
package struct ControlRate: Sendable {
  /// Acknowledgements that may be ahead of frames: those of frames from before.
  private static let maxFreeAcknowledgements = 64

  private var units: TokenBucket
  private var bytes: TokenBucket
  private var freeAcknowledgements = ControlRate.maxFreeAcknowledgements

  /// - Parameter now: The time; both budgets are full then.
  package init(at now: Duration) {
    self.units = TokenBucket(
      perSecond: Double(ContractLimits.controlUnitsPerSecond), at: now)
    self.bytes = TokenBucket(
      perSecond: Double(ContractLimits.controlBytesPerSecond), at: now)
  }

  /// The time until the next control message may be handled; zero if it may now.
  package mutating func delay(at now: Duration) -> Duration {
    max(self.units.delay(for: 1, at: now), self.bytes.delay(for: 1, at: now))
  }

  /// Accounts for a control message that was handled.
  ///
  /// - Parameters:
  ///   - units: Its cost, at least 1.
  ///   - byteCount: Its length on the wire.
  package mutating func take(units: Int, byteCount: Int) {
    self.units.take(Double(units))
    self.bytes.take(Double(byteCount))
  }

  /// Accounts for a frame, whose outcome may be acknowledged.
  package mutating func countFrame() {
    self.freeAcknowledgements = min(self.freeAcknowledgements + 1, Self.maxFreeAcknowledgements)
  }

  /// Whether an acknowledgement is free.
  package mutating func takeFreeAcknowledgement() -> Bool {
    guard self.freeAcknowledgements > 0 else { return false }
    self.freeAcknowledgements -= 1
    return true
  }
}
