import Synchronization

/// Instances of a type that only one thread at a time may use and that takes long to create, such
/// as a decoder, a cascade or a network.
///
/// The pool holds as many idle instances as were in use at the same time, up to a limit.
package final class InstancePool<Instance: Sendable, Failure: Error>: Sendable {
  private let maxIdle: Int
  private let idle = Mutex<[Instance]>([])
  private let create: @Sendable () throws(Failure) -> Instance

  /// Creates an empty pool.
  ///
  /// - Parameters:
  ///   - maxIdle: The maximum number of idle instances.
  ///   - create: Creates an instance.
  package init(
    maxIdle: Int = .max, _ create: @escaping @Sendable () throws(Failure) -> Instance
  ) {
    self.maxIdle = maxIdle
    self.create = create
  }

  /// Creates an instance for later, which shows whether that is possible.
  package func prepare() throws(Failure) {
    self.put(back: try self.create())
  }

  /// Lends an instance. It is not used again if the body throws, since its state is then unknown.
  package func withInstance<Result>(
    _ body: (inout Instance) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let lent = self.idle.withLock { $0.popLast() }
    var instance = if let lent { lent } else { try self.create() }
    let result = try body(&instance)
    self.put(back: instance)
    return result
  }

  private func put(back instance: Instance) {
    self.idle.withLock { idle in
      if idle.count < self.maxIdle { idle.append(instance) }
    }
  }
}
