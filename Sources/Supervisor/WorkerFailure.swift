/// A worker that did not come to serve when all were started first, or that did not end well when all were
/// to drain.
public struct WorkerFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// Which worker, from 0 on.
  public let worker: Int
  /// How it ended.
  public let end: WorkerEnd

  package init(worker: Int, end: WorkerEnd) {
    self.worker = worker
    self.end = end
  }

  /// Which, and how: `worker 1 ended: SIGSEGV`.
  public var description: String { "worker \(self.worker) ended: \(self.end)" }
}
