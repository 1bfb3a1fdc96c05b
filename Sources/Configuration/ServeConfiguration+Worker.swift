public import SidelightServer
import SidelightWire

extension ServeConfiguration {
  /// Returns the configuration of one of several workers on a host: each gets its share of the
  /// processors, and ports and paths that cannot be shared are numbered.
  ///
  /// - Parameters:
  ///   - index: The number of the worker, from 0.
  ///   - count: The number of workers.
  ///   - resumeKey: The resume key that all workers share, unless keys are configured.
  public func forWorker(
    _ index: Int, of count: Int, resumeKey: ResumeKey
  ) -> ServeConfiguration {
    var result = self
    result.computeThreads = self.computeThreads ?? max(1, self.base.computeThreads / count)
    if self.resumeKeys == nil, self.resumeKeyFile == nil { result.resumeKeys = [resumeKey] }
    result.admin = self.admin.map { $0.forWorker(index) }
    if let path = self.sharedMemory.socketPath {
      result.sharedMemory.socketPath = Self.path(path, ofWorker: index)
    }
    return result
  }

  /// The faults in the paths and ports of the last worker, which are the longest and the highest.
  var workerErrors: [(key: String, reason: String)] {
    guard self.workers > 0 else { return [] }
    let last = self.workers - 1
    var faults: [(String, String)] = []
    if let path = self.sharedMemory.socketPath {
      faults += Self.fault("shared-memory.socket", path, last)
    }
    switch self.admin {
    case .tcp(_, let port) where port > 0 && port + last > 65535:
      faults.append(("admin.listen", "leaves no port for worker \(last): the limit is 65535"))
    case .unix(let path): faults += Self.fault("admin.listen", path, last)
    case .tcp, nil: break
    }
    return faults
  }

  private static func fault(
    _ key: String, _ path: String, _ last: Int
  ) -> [(String, String)] {
    let count = Self.path(path, ofWorker: last).utf8.count
    guard count > 107 else { return [] }
    return [(key, "has \(count) bytes for worker \(last); the limit is 107")]
  }

  fileprivate static func path(_ path: String, ofWorker index: Int) -> String {
    "\(path).\(index)"
  }
}

extension Address {
  /// The port plus the worker's number, or the path with that number. Port 0 is unique already.
  fileprivate func forWorker(_ index: Int) -> Address {
    switch self {
    case .tcp(let host, let port): .tcp(host: host, port: port == 0 ? 0 : port + index)
    case .unix(let path): .unix(path: ServeConfiguration.path(path, ofWorker: index))
    }
  }
}
