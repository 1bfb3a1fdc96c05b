import Synchronization

/// A value that several threads can read and replace.
final class LockedValue<Value: Sendable>: Sendable {
  private let current: Mutex<Value>

  init(_ value: Value) {
    self.current = Mutex(value)
  }

  /// The current value. Callers that use several of its parts must read it once.
  var value: Value {
    get { self.current.withLock(\.self) }
    set { self.current.withLock { $0 = newValue } }
  }
}
