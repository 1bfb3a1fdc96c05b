import SidelightWire
import Synchronization

/// Counts what a client did wrong since it last did something right.
final class ConsecutiveErrorCounter: Sendable {
  private let state = Mutex<(inARow: Int, last: FieldFault?)>((0, nil))

  /// Something was wrong.
  func count(_ fault: FieldFault) {
    self.state.withLock { $0 = ($0.inARow + 1, fault) }
  }

  /// Something was right.
  func reset() {
    self.state.withLock { $0 = (0, nil) }
  }

  /// The last fault, if there were more than so many in a row.
  func last(ifMoreThan limit: Int) -> FieldFault? {
    self.state.withLock { $0.inARow > limit ? $0.last : nil }
  }
}
