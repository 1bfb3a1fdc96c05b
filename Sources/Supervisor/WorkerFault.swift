/// Why a process is no worker, although its environment says so.
public struct WorkerFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong, in words.
  public let description: String
}
