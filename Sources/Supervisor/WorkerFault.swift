/// The reason why a process cannot run as a worker although its environment requests it.
public struct WorkerSetupError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The reason.
  public let description: String
}
