import Synchronization

/// Instances of a type that only one thread at a time may use and that takes long to create, such
/// as a cascade or a network.
///
/// The pool holds as many instances as were in use at the same time.
final class InstancePool<Instance: Sendable>: Sendable {
  private let idle: Mutex<[Instance]>
  private let create: @Sendable () throws -> Instance

  /// Creates a pool with one instance.
  init(_ create: @escaping @Sendable () throws -> Instance) throws {
    self.idle = Mutex([try create()])
    self.create = create
  }

  /// Lends an instance. It is not used again if the body throws, since its state is then unknown.
  func withInstance<Result>(_ body: (inout Instance) throws -> Result) throws -> Result {
    var instance = try self.idle.withLock { $0.popLast() } ?? self.create()
    let result = try body(&instance)
    self.idle.withLock { $0.append(instance) }
    return result
  }
}
