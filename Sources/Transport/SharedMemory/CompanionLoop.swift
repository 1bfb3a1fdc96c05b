import Foundation
import Logging
import SidelightWire

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The thread that hands out rings. Each connection says what it wants, is answered and closed; how
/// many there are, how much each may say, and how long each may take is bounded.
struct CompanionLoop: Sendable {
  private struct Connection {
    let descriptor: OwnedDescriptor
    var bytes: [UInt8] = []
    let end: ContinuousClock.Instant
  }

  private enum Turn {
    case goOn
    case close
  }

  let listener: OwnedDescriptor
  let configuration: SharedMemoryConfiguration
  let desk: RingDesk
  let logger: Logger

  /// Runs until the listener is shut down.
  func run() {
    var connections: [Connection] = []
    while true {
      var polled = [pollfd(fd: self.listener.number, events: Int16(POLLIN), revents: 0)]
      polled += connections.map {
        pollfd(fd: $0.descriptor.number, events: Int16(POLLIN), revents: 0)
      }
      guard poll(&polled, nfds_t(polled.count), Self.timeout(connections)) >= 0 || errno == EINTR
      else { return self.logger.error("companion socket failed", metadata: ["errno": "\(errno)"]) }
      if polled[0].revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0 { return }
      let now = ContinuousClock.now
      var kept: [Connection] = []
      for (var connection, entry) in zip(connections, polled.dropFirst()) {
        let turn = entry.revents == 0 ? .goOn : self.read(&connection)
        if case .goOn = turn, now < connection.end { kept.append(connection) }
      }
      connections = kept
      if polled[0].revents != 0 { self.accept(into: &connections) }
    }
  }

  /// Until the first connection's time is over, rounded up.
  private static func timeout(_ connections: [Connection]) -> CInt {
    guard let end = connections.map(\.end).min() else { return -1 }
    let milliseconds = (ContinuousClock.now.duration(to: end) / .milliseconds(1)).rounded(.up)
    return CInt(min(max(0, milliseconds), 60_000))
  }

  private func accept(into connections: inout [Connection]) {
    do throws(SharedMemoryError) {
      while let descriptor = try CompanionSocket.accept(on: self.listener) {
        let user = try CompanionSocket.peerUserID(of: descriptor)
        guard self.isAllowed(user) else {
          self.logger.warning("companion refused", metadata: ["user": "\(user)"])
          try? CompanionSocket.answer(.notPermitted, on: descriptor)
          continue
        }
        guard connections.count < self.configuration.maxPendingConnections else {
          try? CompanionSocket.answer(.busy, on: descriptor)
          continue
        }
        connections.append(
          Connection(descriptor: descriptor, end: .now + self.configuration.companionTimeout))
      }
    } catch {
      // Most likely there are no descriptors left. The one that waits would wake us at once again.
      self.logger.warning("companion not accepted", metadata: ["error": "\(error)"])
      Thread.sleep(forTimeInterval: 0.05)
    }
  }

  private func isAllowed(_ user: UInt32) -> Bool {
    user == geteuid() || user == 0 || self.configuration.allowedUserIDs.contains(user)
  }

  /// Reads what has come, and answers once it is complete.
  private func read(_ connection: inout Connection) -> Turn {
    var buffer = [UInt8](repeating: 0, count: CompanionHello.maxBytes + 1)
    // Descriptors that somebody sends are not taken: the system closes them.
    let count = recv(connection.descriptor.number, &buffer, buffer.count, 0)
    guard count > 0 else {
      return count < 0 && [EAGAIN, EINTR].contains(errno) ? .goOn : .close
    }
    connection.bytes += buffer.prefix(count)
    switch CompanionHello.read(connection.bytes) {
    case .incomplete: return .goOn
    case .malformed: try? CompanionSocket.answer(.refused, on: connection.descriptor)
    case .complete(let hello):
      let memory = self.desk.redeem(hello)
      if memory == nil {
        self.logger.warning("companion refused", metadata: ["session": "\(hello.sessionID)"])
      }
      try? CompanionSocket.answer(
        memory == nil ? .refused : .ring, memory, on: connection.descriptor)
    }
    return .close
  }
}
