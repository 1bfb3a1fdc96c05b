/// The failure of a worker to start for the first time, or to drain.
public struct WorkerFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The number of the worker, from 0.
  public let worker: Int
  /// The end of its process.
  public let end: WorkerEnd

  package init(worker: Int, end: WorkerEnd) {
    self.worker = worker
    self.end = end
  }

  /// The worker and its end: `worker 1 ended: SIGSEGV`.
  public var description: String { "worker \(self.worker) ended: \(self.end)" }
}
