import Foundation
public import SidelightServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What this process is as a worker of a ``Supervisor``.
public struct Worker: Sendable {
  /// Which one, from 0 on.
  public let index: Int
  /// How many there are.
  public let count: Int
  /// How often this one has been started, with this time: 1 unless it ended before.
  public let starts: Int
  /// Where it serves, with the ports that the system chose.
  public let addresses: [Address]
  /// The sockets, one for each address.
  public let descriptors: [Int32]
  /// With this all workers of a supervisor sign and read resume tokens, so that a session goes on with
  /// another when its own ends. Where servers elsewhere are to resume them too, take keys that these share.
  public let resumeKey: ResumeKey
  let line: ControlLine

  /// Takes over what a supervisor left to this process. Call it first, and once: it takes the variable
  /// out of the environment, so that programs which this one starts are no workers.
  ///
  /// - Returns: `nil` if this process is no worker.
  /// - Throws: ``WorkerFault`` if the environment says it is, but nobody supervises it.
  public static func inherited() throws(WorkerFault) -> Worker? {
    guard let text = ProcessInfo.processInfo.environment[WorkerInheritance.variable] else {
      return nil
    }
    unsetenv(WorkerInheritance.variable)
    return try Worker(WorkerInheritance(text: text))
  }

  init(_ inheritance: WorkerInheritance) throws(WorkerFault) {
    self.line = ControlLine(descriptor: inheritance.control)
    let secret = self.line.hear(ControlLine.secretBytes)
    guard secret.count == ControlLine.secretBytes else {
      throw WorkerFault(description: "the supervisor of this worker is gone")
    }
    var addresses: [Address] = []
    for socket in inheritance.sockets {
      guard let address = try? Address(socket.address) else {
        throw WorkerFault(description: "\(socket.address) is no address")
      }
      addresses.append(address)
      _ = fcntl(socket.descriptor, F_SETFD, FD_CLOEXEC)
    }
    self.line.keep()
    self.index = inheritance.index
    self.count = inheritance.count
    self.starts = inheritance.starts
    self.addresses = addresses
    self.descriptors = inheritance.sockets.map(\.descriptor)
    self.resumeKey = ResumeKey(id: "supervisor", secret: Data(secret))
    Self.tellName(self.index)
  }

  /// Fits a configuration to this worker: it serves on the supervisor's sockets, resumes the sessions of the
  /// others, and has its share of the processors for filters.
  public func adapt(_ configuration: inout ServerConfiguration) {
    configuration.addresses = self.addresses
    configuration.listeningDescriptors = self.descriptors
    configuration.resumeKeys = [self.resumeKey]
    configuration.computeThreads = self.share(of: configuration.computeThreads)
  }

  /// This worker's part of what there is once a machine; 1 at least.
  public func share(of total: Int) -> Int { max(1, total / self.count) }

  /// Tells `ps` and `top` which worker it is: the file that was started is no name. Where that cannot be
  /// told, it is not.
  private static func tellName(_ index: Int) {
    let program = CommandLine.arguments.first?.split(separator: "/").last ?? "worker"
    // There is room for fifteen bytes.
    let number = "/\(index)"
    let file = open("/proc/self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    let name = Array((program.prefix(15 - number.utf8.count) + number).utf8)
    _ = write(file, name, name.count)
    close(file)
  }
}
