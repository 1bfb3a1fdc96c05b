import Synchronization

/// Keeps instances of libjpeg-turbo for pictures to come. Making one costs more than a small
/// picture's header; what is kept idle has a bound.
final class JPEGInstancePool: Sendable {
  private let kind: JPEGInstance.Kind
  private let maxIdle: Int
  private let idle = Mutex<[JPEGInstance]>([])

  /// - Parameter maxIdle: The most instances that wait; 0 keeps none.
  init(_ kind: JPEGInstance.Kind, maxIdle: Int) {
    self.kind = kind
    self.maxIdle = maxIdle
  }

  /// How many instances wait.
  var idleCount: Int { self.idle.withLock { $0.count } }

  /// Lends an instance for the length of a call.
  ///
  /// One that threw is not lent again: what is left in it, nobody needs to know.
  ///
  /// - Parameter isFresh: Whether it must be one that has seen no picture, and is to see no other.
  func withInstance<Result>(
    isFresh: Bool = false, _ body: (JPEGInstance) throws(CodecError) -> Result
  ) throws(CodecError) -> Result {
    if isFresh { return try body(try JPEGInstance(self.kind)) }
    let known = self.idle.withLock { $0.popLast() }
    let instance = if let known { known } else { try JPEGInstance(self.kind) }
    let result = try body(instance)
    self.idle.withLock { idle in
      if idle.count < self.maxIdle { idle.append(instance) }
    }
    return result
  }
}
