import Foundation
package import Logging

/// The server side of the descriptor socket: passes the memory of rings to clients.
///
/// It runs on a separate thread: only `sendmsg` passes a descriptor, the event loops do not call
/// it, and a session uses the socket only once.
package struct DescriptorSocketServer: Sendable {
  /// The limits of a descriptor socket.
  package struct Limits: Sendable {
    /// The users whose processes may fetch rings, besides the server's own user and root.
    package var allowedUserIDs: Set<UInt32>
    /// The connections that may be open without a complete request.
    package var maxPendingConnections: Int
    /// The time that a connection may take for its request.
    package var timeout: Duration

    package init(allowedUserIDs: Set<UInt32>, maxPendingConnections: Int, timeout: Duration) {
      self.allowedUserIDs = allowedUserIDs
      self.maxPendingConnections = maxPendingConnections
      self.timeout = timeout
    }
  }

  private let limits: Limits
  private let logger: Logger
  private let location: DescriptorSocketLocation
  private let file: UnixSocketFile
  private let listener: OwnedDescriptor

  package var path: String { self.location.path }

  /// Listens. ``run(memory:onStop:)`` must be called; it closes the socket when it ends.
  ///
  /// - Parameter path: The path of the socket; `nil` puts it into a new private folder.
  /// - Throws: ``SharedMemoryError`` if the socket's folder cannot be created, `ListeningError` if
  ///   the socket cannot be bound.
  package init(at path: String?, limits: Limits, logger: Logger) async throws {
    self.limits = limits
    self.logger = logger
    let location = try DescriptorSocketLocation(path)
    self.location = location
    do {
      self.file = try await UnixSocketFile(
        listeningAt: location.path,
        // The loop checks the user of every connection. If only the server's own user and root are
        // allowed, the mode of the file already keeps the others out.
        permissions: limits.allowedUserIDs.isEmpty ? 0o600 : 0o666)
    } catch {
      location.removeFolder()
      throw error
    }
    self.listener = OwnedDescriptor(self.file.descriptor)
    // The loop accepts the waiting connections, and then serves the open ones.
    let flags = fcntl(self.listener.number, F_GETFL)
    _ = fcntl(self.listener.number, F_SETFL, flags | O_NONBLOCK)
  }

  /// Serves until the task is cancelled, and then closes the socket.
  ///
  /// - Parameters:
  ///   - memory: Returns the memory of the ring that a client asks for; `nil` refuses it. Called on
  ///     the socket's thread.
  ///   - onStop: Called once or twice when the socket stops serving, on any thread.
  package func run(
    memory: @escaping @Sendable (DescriptorHello) -> OwnedDescriptor?,
    onStop: @escaping @Sendable () -> Void
  ) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let loop = DescriptorSocketLoop(
          listener: self.listener, limits: self.limits, memory: memory, logger: self.logger)
        Thread.detachNewThread {
          loop.run()
          continuation.resume()
        }
      }
    } onCancel: {
      onStop()
      // Wakes the thread, now or when it begins to wait.
      shutdown(self.listener.number, CInt(SHUT_RDWR))
    }
    // The thread may have ended because of an error. Rings that cannot be fetched must not be
    // offered.
    onStop()
    self.file.remove()
    self.location.removeFolder()
  }
}

/// The loop of the thread that passes rings. A connection sends one request, receives the answer
/// and is closed; the number of connections, the size of a request and its duration are limited.
private struct DescriptorSocketLoop: Sendable {
  private struct Connection {
    let descriptor: OwnedDescriptor
    var bytes: [UInt8] = []
    let end: ContinuousClock.Instant
  }

  /// The decision about a connection after a read.
  private enum ReadResult {
    case keepOpen
    case close
  }

  /// The time without accepting connections after one could not be accepted.
  private static let acceptPause = Duration.milliseconds(50)

  let listener: OwnedDescriptor
  let limits: DescriptorSocketServer.Limits
  let memory: @Sendable (DescriptorHello) -> OwnedDescriptor?
  let logger: Logger

  /// Runs until the listener is shut down.
  func run() {
    var connections: [Connection] = []
    // The end of a pause without accepting; `nil` outside a pause.
    var acceptsFrom: ContinuousClock.Instant?
    while true {
      // Without events, `poll` still reports that the listener was shut down.
      let events = acceptsFrom == nil ? Int16(POLLIN) : 0
      var polled = [pollfd(fd: self.listener.number, events: events, revents: 0)]
      polled += connections.map {
        pollfd(fd: $0.descriptor.number, events: Int16(POLLIN), revents: 0)
      }
      let timeout = Self.timeout(connections.map(\.end) + [acceptsFrom].compactMap(\.self))
      guard poll(&polled, nfds_t(polled.count), timeout) >= 0 || errno == EINTR else {
        return self.logger.error("descriptor socket failed", metadata: ["errno": "\(errno)"])
      }
      if polled[0].revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0 { return }
      let now = ContinuousClock.now
      var kept: [Connection] = []
      for (var connection, entry) in zip(connections, polled.dropFirst()) {
        let result = entry.revents == 0 ? .keepOpen : self.read(&connection)
        if case .keepOpen = result, now < connection.end { kept.append(connection) }
      }
      connections = kept
      if let end = acceptsFrom, end <= now { acceptsFrom = nil }
      if polled[0].revents != 0, !self.accept(into: &connections) {
        acceptsFrom = now + Self.acceptPause
      }
    }
  }

  /// Returns the time until the first of several instants in milliseconds, rounded up. Returns -1,
  /// which disables the timeout, if `ends` is empty.
  private static func timeout(_ ends: [ContinuousClock.Instant]) -> CInt {
    guard let end = ends.min() else { return -1 }
    let milliseconds = (ContinuousClock.now.duration(to: end) / .milliseconds(1)).rounded(.up)
    return CInt(min(max(0, milliseconds), 60_000))
  }

  /// Accepts the connections that wait.
  ///
  /// - Returns: Whether it accepted all of them.
  private func accept(into connections: inout [Connection]) -> Bool {
    do throws(SharedMemoryError) {
      while let descriptor = try DescriptorSocket.accept(on: self.listener) {
        let user = try DescriptorSocket.peerUserID(of: descriptor)
        guard self.isAllowed(user) else {
          self.logger.warning(
            "descriptor socket: connection refused", metadata: ["user": "\(user)"])
          try? DescriptorSocket.answer(.notPermitted, on: descriptor)
          continue
        }
        guard connections.count < self.limits.maxPendingConnections else {
          try? DescriptorSocket.answer(.busy, on: descriptor)
          continue
        }
        connections.append(
          Connection(descriptor: descriptor, end: .now + self.limits.timeout))
      }
      return true
    } catch {
      // Usually all descriptors are in use. A free descriptor isn't an event, and the waiting
      // connection would wake the loop at once, so the loop does not accept for a while.
      self.logger.warning(
        "descriptor socket: connection not accepted", metadata: ["error": "\(error)"])
      return false
    }
  }

  private func isAllowed(_ user: UInt32) -> Bool {
    user == geteuid() || user == 0 || self.limits.allowedUserIDs.contains(user)
  }

  /// Reads the bytes that have arrived, and answers a complete request.
  private func read(_ connection: inout Connection) -> ReadResult {
    var buffer = [UInt8](repeating: 0, count: DescriptorHello.maxBytes + 1)
    // Descriptors that a peer sends are not taken: the system closes them.
    let count = recv(connection.descriptor.number, &buffer, buffer.count, 0)
    guard count > 0 else {
      return count < 0 && [EAGAIN, EINTR].contains(errno) ? .keepOpen : .close
    }
    connection.bytes += buffer.prefix(count)
    switch DescriptorHello.read(connection.bytes) {
    case .incomplete: return .keepOpen
    case .malformed: try? DescriptorSocket.answer(.refused, on: connection.descriptor)
    case .complete(let hello):
      let memory = self.memory(hello)
      if memory == nil {
        self.logger.warning(
          "descriptor socket: request refused", metadata: ["session": "\(hello.sessionID)"])
      }
      try? DescriptorSocket.answer(
        memory == nil ? .refused : .ring, memory, on: connection.descriptor)
    }
    return .close
  }
}

/// The path of a descriptor socket, and the folder that was created for it.
private struct DescriptorSocketLocation: Sendable {
  let path: String
  /// The folder that was created for the socket, if any.
  private let folder: String?

  /// - Parameter path: The path; `nil` creates a new folder that only this user can enter.
  /// - Throws: ``SharedMemoryError`` if the folder cannot be created.
  init(_ path: String?) throws(SharedMemoryError) {
    if let path {
      self.path = path
      self.folder = nil
      return
    }
    // The runtime folder is the user's own, and in memory; but not every user has one.
    let parent = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"] ?? "/tmp"
    var template = Array("\(parent)/sidelight-XXXXXX".utf8CString)
    // mkdtemp gives it the mode 0700.
    guard mkdtemp(&template) != nil else {
      throw SharedMemoryError("making a folder in \(parent)", code: errno)
    }
    let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    self.folder = folder
    self.path = "\(folder)/ring.sock"
  }

  /// Removes the folder that was created for the socket.
  func removeFolder() {
    if let folder { rmdir(folder) }
  }
}
