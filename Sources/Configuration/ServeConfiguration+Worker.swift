public import SidelightServer
import SidelightWire

extension ServeConfiguration {
  /// Fits a configuration to one of several workers, which share a host: each has its part of the
  /// processors, and addresses and paths that only one can have are told apart by its number.
  ///
  /// - Parameters:
  ///   - index: Which worker, from 0 on.
  ///   - count: How many there are.
  ///   - resumeKey: What they share, unless keys are configured.
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

  /// What is wrong with paths and ports of the last worker, which has the longest and the highest.
  var workerFaults: [(key: String, reason: String)] {
    guard self.workers > 0 else { return [] }
    let last = self.workers - 1
    var faults: [(String, String)] = []
    if let path = self.sharedMemory.socketPath {
      faults += Self.fault("shared-memory.socket", path, last)
    }
    switch self.admin {
    case .tcp(_, let port) where port > 0 && port + last > 65535:
      faults.append(("admin.listen", "leaves no port for worker \(last)"))
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
    return [(key, "has \(count) bytes for worker \(last), the limit is 107")]
  }

  fileprivate static func path(_ path: String, ofWorker index: Int) -> String {
    "\(path).\(index)"
  }
}

extension Address {
  /// The next ports, or paths with the worker's number; ports of the system's choice are told apart anyway.
  fileprivate func forWorker(_ index: Int) -> Address {
    switch self {
    case .tcp(let host, let port): .tcp(host: host, port: port == 0 ? 0 : port + index)
    case .unix(let path): .unix(path: ServeConfiguration.path(path, ofWorker: index))
    }
  }
}
