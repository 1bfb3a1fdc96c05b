import Foundation
public import SidelightServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// This process as a worker of a ``Supervisor``.
public struct Worker: Sendable {
  /// The number of the worker, from 0.
  public let index: Int
  /// The number of workers.
  public let count: Int
  /// The number of starts of this worker, including the current one.
  public let starts: Int
  /// The addresses on which it serves, with the ports that the system chose.
  public let addresses: [Address]
  /// The listening sockets, one per address.
  public let descriptors: [Int32]
  /// The key for resume tokens that all workers of a supervisor share, so that a session can resume
  /// on another worker. To resume on other servers too, configure keys that all of them share.
  public let resumeKey: ResumeKey
  let control: ControlSocket

  /// Takes over the sockets that the supervisor passed to this process. Call it first, and once: it
  /// removes the variable from the environment, so that programs that this one starts are not
  /// workers.
  ///
  /// - Returns: `nil` if this process is not a worker.
  /// - Throws: ``WorkerSetupError`` if the environment names a supervisor that does not exist.
  public static func inherited() throws(WorkerSetupError) -> Worker? {
    guard let text = ProcessInfo.processInfo.environment[WorkerInheritance.variable] else {
      return nil
    }
    unsetenv(WorkerInheritance.variable)
    return try Worker(WorkerInheritance(text: text))
  }

  init(_ inheritance: WorkerInheritance) throws(WorkerSetupError) {
    self.control = ControlSocket(descriptor: inheritance.control)
    let secret = self.control.receiveBytes(ControlSocket.secretBytes)
    guard secret.count == ControlSocket.secretBytes else {
      throw WorkerSetupError(description: "the supervisor of this worker has ended")
    }
    var addresses: [Address] = []
    for socket in inheritance.sockets {
      guard let address = try? Address(socket.address) else {
        throw WorkerSetupError(description: "\(socket.address) is not an address")
      }
      addresses.append(address)
      _ = fcntl(socket.descriptor, F_SETFD, FD_CLOEXEC)
    }
    self.control.setCloseOnExec()
    self.index = inheritance.index
    self.count = inheritance.count
    self.starts = inheritance.starts
    self.addresses = addresses
    self.descriptors = inheritance.sockets.map(\.descriptor)
    self.resumeKey = ResumeKey(id: "supervisor", secret: Data(secret))
    Self.setProcessName(self.index)
  }

  /// Adapts a configuration to this worker: it serves on the supervisor's sockets, resumes sessions
  /// of the other workers, and uses its share of the processors for filters.
  public func adapt(_ configuration: inout ServerConfiguration) {
    configuration.addresses = self.addresses
    configuration.listeningDescriptors = self.descriptors
    configuration.resumeKeys = [self.resumeKey]
    configuration.computeThreads = self.share(of: configuration.computeThreads)
  }

  /// Returns this worker's share of a resource of the machine; at least 1.
  public func share(of total: Int) -> Int { max(1, total / self.count) }

  /// Sets the process name for `ps` and `top` to the program's name and the worker's number.
  /// Ignores failures.
  private static func setProcessName(_ index: Int) {
    let program = CommandLine.arguments.first?.split(separator: "/").last ?? "worker"
    // The kernel allows 15 bytes.
    let number = "/\(index)"
    let file = open("/proc/self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    let name = Array((program.prefix(15 - number.utf8.count) + number).utf8)
    _ = write(file, name, name.count)
    close(file)
  }
}
