import Synchronization

/// A value that is read in many places, and can be changed while they read it.
final class Adjustable<Value: Sendable>: Sendable {
  private let current: Mutex<Value>

  init(_ value: Value) {
    self.current = Mutex(value)
  }

  /// The value as it stands. Whoever needs several of its parts takes it once.
  var value: Value {
    get { self.current.withLock(\.self) }
    set { self.current.withLock { $0 = newValue } }
  }
}
