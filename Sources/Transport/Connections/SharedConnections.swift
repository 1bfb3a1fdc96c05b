import GRPCCore
import SidelightWire
import Synchronization

/// The connections that a client's sessions share. A session opens a connection, up to a limit per
/// address; beyond it, a session shares the connection with the fewest sessions.
///
/// A connection is open while a session uses it. A connection on which a session has failed is not
/// used for further sessions; the next attempt gets a new one.
final class SharedConnections: Sendable {
  /// A connection and its event loop.
  struct Connection: Sendable {
    let client: Dialer.Connection
    let loop: ConnectionLoop
    fileprivate let number: UInt64
  }

  private struct Entry {
    var connection: Connection
    var address: Address
    var users = 0
    var isRetired = false
  }

  private struct State {
    var entries: [UInt64: Entry] = [:]
    var nextNumber: UInt64 = 0
  }

  private let limit: Int
  private let open: @Sendable (Address, ConnectionLoop) throws -> Dialer.Connection
  private let isConnectionError: @Sendable (any Error) -> Bool
  private let nextLoop: @Sendable () -> ConnectionLoop
  private let state = Mutex(State())
  private let started = AsyncStream.makeStream(of: Connection.self)

  /// - Parameters:
  ///   - limit: The maximum number of connections to one address, at least 1.
  ///   - nextLoop: Returns the event loop of the next connection.
  ///   - isConnectionError: Whether the connection may be the cause of an error.
  init(
    limit: Int, nextLoop: @escaping @Sendable () -> ConnectionLoop,
    open: @escaping @Sendable (Address, ConnectionLoop) throws -> Dialer.Connection,
    isConnectionError: @escaping @Sendable (any Error) -> Bool
  ) {
    self.limit = limit
    self.nextLoop = nextLoop
    self.open = open
    self.isConnectionError = isConnectionError
  }

  /// Runs the connections until ``finish()`` was called and all have closed.
  func run() async {
    await withDiscardingTaskGroup { group in
      for await connection in self.started.stream {
        // The calls on the connection report its error.
        group.addTask { try? await connection.client.runConnections() }
      }
    }
  }

  /// Stops opening connections.
  func finish() {
    self.started.continuation.finish()
  }

  /// Runs `body` with a connection to the address.
  func withConnection<Result: Sendable>(
    to address: Address, _ body: (Connection) async throws -> Result
  ) async throws -> Result {
    let connection = try self.acquire(address)
    defer { self.release(connection) }
    do {
      return try await body(connection)
    } catch {
      // A refusal of the server may happen on any connection; otherwise this one may be the reason.
      if error is CancellationError || self.isConnectionError(error) {
        self.state.withLock { $0.entries[connection.number]?.isRetired = true }
      }
      throw error
    }
  }

  private func acquire(_ address: Address) throws -> Connection {
    try self.state.withLock { state in
      let usable = state.entries.values.filter { $0.address == address && !$0.isRetired }
      if usable.count >= self.limit,
        let leastUsed = usable.min(by: {
          ($0.users, $0.connection.number) < ($1.users, $1.connection.number)
        })
      {
        state.entries[leastUsed.connection.number]?.users += 1
        return leastUsed.connection
      }
      let loop = self.nextLoop()
      let connection = Connection(
        client: try self.open(address, loop), loop: loop,
        number: state.nextNumber)
      state.nextNumber += 1
      state.entries[connection.number] = Entry(connection: connection, address: address, users: 1)
      self.started.continuation.yield(connection)
      return connection
    }
  }

  private func release(_ connection: Connection) {
    let isLast = self.state.withLock { state in
      state.entries[connection.number]?.users -= 1
      guard state.entries[connection.number]?.users == 0 else { return false }
      state.entries[connection.number] = nil
      return true
    }
    if isLast { connection.client.beginGracefulShutdown() }
  }
}
