import Foundation
public import ServiceLifecycle
public import SidelightServer
import Synchronization

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
  /// The key for resume tokens that all workers of a supervisor share, which lets a session resume
  /// on another worker. To resume on other servers too, configure a key that all of them share.
  public let resumeKey: ResumeKey
  let control: ControlSocket

  /// Takes over the sockets that the supervisor passed to this process. Call it first, and once: it
  /// removes the variable from the environment, to prevent programs that this process starts from
  /// becoming workers.
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

/// The data that a worker receives in an environment variable when it starts.
package struct WorkerInheritance: Codable, Hashable {
  package static let variable = "SIDELIGHT_WORKER"

  /// A listening socket.
  package struct Socket: Codable, Hashable {
    /// The address, as `Address` formats it.
    package var address: String
    package var descriptor: Int32

    package init(address: String, descriptor: Int32) {
      self.address = address
      self.descriptor = descriptor
    }
  }

  /// The number of the worker, from 0.
  package var index: Int
  /// The number of workers.
  package var count: Int
  /// The number of starts of this worker, including the current one.
  package var starts: Int
  /// The descriptor of the control socket.
  package var control: Int32
  /// The listening sockets, in the order of the supervisor's addresses.
  package var sockets: [Socket]

  /// Parses the value of the variable.
  ///
  /// - Throws: ``WorkerSetupError`` if a supervisor did not write the text.
  package init(text: String) throws(WorkerSetupError) {
    do {
      self = try JSONDecoder().decode(Self.self, from: Data(text.utf8))
    } catch {
      throw WorkerSetupError(
        description: "\(Self.variable) is invalid; only a supervisor sets it, for its workers")
    }
  }

  package init(index: Int, count: Int, starts: Int, control: Int32 = -1, sockets: [Socket]) {
    self.index = index
    self.count = count
    self.starts = starts
    self.control = control
    self.sockets = sockets
  }

  /// The value of the variable, which ``init(text:)`` parses.
  package var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Strings and numbers can always be encoded.
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}

/// The connection of a worker to its supervisor. Reports that the server listens, and sends SIGTERM
/// to this process when the supervisor has ended, regardless of the cause.
///
/// Run it in the same service group as the server, with graceful shutdown on SIGTERM.
public struct WorkerLink: Service, CustomStringConvertible {
  private let worker: Worker
  private let server: SidelightServer

  /// - Parameters:
  ///   - worker: The worker that this process is.
  ///   - server: The worker's server.
  public init(_ worker: Worker, server: SidelightServer) {
    self.worker = worker
    self.server = server
  }

  /// The name of the service, for logs.
  public var description: String { "WorkerLink" }

  /// Watches the supervisor until graceful shutdown begins, or the task is cancelled.
  public func run() async throws {
    // If the server does not listen, it reports the reason, and this process ends.
    guard (try? await self.server.listeningAddresses) != nil else {
      return try await gracefulShutdown()
    }
    let control = self.worker.control
    let isStopped = Mutex(false)
    control.sendBytes([1])
    await cancelWhenGracefulShutdown {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          // The supervisor doesn't send more data: this returns when it ends, or when the watch
          // stops.
          Thread.detachNewThread {
            _ = control.receiveBytes(1)
            continuation.resume()
          }
        }
      } onCancel: {
        isStopped.withLock { $0 = true }
        control.stopReceiving()
      }
    }
    guard !isStopped.withLock(\.self) else { return }
    kill(getpid(), SIGTERM)
    try await gracefulShutdown()
  }
}

/// The reason why a process cannot run as a worker although its environment requests it.
public struct WorkerSetupError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The reason.
  public let description: String
}
