import Synchronization

/// A number that sources of a test share.
final class Counter: Sendable {
  private let number: Mutex<Int>

  init(_ value: Int = 0) {
    self.number = Mutex(value)
  }

  var value: Int { self.number.withLock { $0 } }

  func set(_ value: Int) { self.number.withLock { $0 = value } }

  /// Returns the number and adds 1 to it.
  func next() -> Int {
    self.number.withLock { number in
      defer { number += 1 }
      return number
    }
  }
}
