import Foundation
import GRPCCore
import SidelightTransport
import SidelightWire

/// Keeps a session connected: opens it, serves it until the connection ends, and opens it again as
/// often as its policy says.
struct SessionRunner {
  let session: FilterSession
  let options: SessionOptions
  let addresses: [Address]
  let dialer: Dialer
  let security: ClientSecurity
  /// The loop of the session's connections, unless they are shared.
  let loop: ConnectionLoop
  let clock: SessionClock
  /// Returns a uniform random number in 0 ..< 1.
  let random: @Sendable () -> Double

  private var flow: SessionFlow { self.session.flow }

  /// A connection that is being opened or is open.
  private struct Connection {
    /// Its number in the session.
    let link: Int
    let address: Address
    /// The index of the address among the client's own.
    let addressIndex: Int?
    let started: Duration
    /// Whether it presented a resume token.
    let presentedToken: Bool
    /// Whether it is opened while the session uses another.
    let isMove: Bool
  }

  /// A step of the session.
  private enum Step {
    case ended(link: Int, Result<Void, any Error>)
    /// The wait before another attempt to reconnect is over.
    case reconnect
    /// The server asks for a move.
    case moveRequested
    /// The wait before an attempt to open the connection of a move is over.
    case openNext
  }

  private enum Phase {
    case connected
    /// Disconnected because of an error.
    case waiting(any Error)
    /// Over, except for the outcomes of earlier connections.
    case over(Result<Void, any Error>)
  }

  /// A move to another connection, while the session uses its current one.
  private struct Move {
    var isInProgress = false
    var attempts = 0
    /// The connection that is being opened, or waits for a frame with which the session can move.
    var connection: Connection?
  }

  /// Runs until the session is over. The session's events report how it ended.
  func run() async {
    await withTaskGroup(of: Step.self) { group in
      var reconnector = Reconnector(policy: self.options.reconnect, addressCount: addresses.count)
      var stallLimit = self.options.reconnect?.stallLimit
      var current = self.connect(reconnector.attempt, stallLimit, in: &group)
      var (phase, move) = (Phase.connected, Move())
      if self.options.acceptsMove { self.addMoveWait(to: &group) }
      while let step = await group.next() {
        if let next = move.connection, self.flow.currentLink == next.link {
          reconnector.move(to: next.addressIndex)
          (current, move) = (next, Move())
        }
        switch (step, phase) {
        case (.ended(let link, let end), .connected) where link == current.link:
          guard case .failure(let error) = end else {
            phase = .over(end)
            break
          }
          let failure = self.failure(error, of: current)
          if let opened = self.flow.opened(link) {
            reconnector.open(at: opened, after: opened - current.started)
            if failure == .silent {
              stallLimit = self.stallLimit(after: stallLimit, opened: opened)
            }
          }
          let action = reconnector.lose(failure, at: self.clock.now(), random: self.random)
          guard !Task.isCancelled, case .retry(let attempt, let delay) = action else {
            phase = .over(end)
            break
          }
          self.flow.loseLink(
            .interrupted(cause: error, attempt: attempt.number, delay: delay))
          if let next = move.connection, self.flow.adopt(next.link) {
            current = next
          } else {
            phase = .waiting(error)
            group.addTask {
              await self.wait(delay)
              return .reconnect
            }
          }
          move = Move()
        case (.ended(let link, _), _):
          let isOutdated = self.flow.end(link)
          guard move.connection?.link == link else { break }
          move.connection = nil
          // The same address is opened again with the newest token.
          if !isOutdated { move.attempts += 1 }
          self.addAttempt(of: move, to: &group)
        case (.reconnect, .waiting(let error)):
          if Task.isCancelled {
            phase = .over(.failure(error))
          } else if self.flow.isDrained {
            phase = .over(.success(()))
          } else {
            phase = .connected
            current = self.connect(reconnector.attempt, stallLimit, in: &group)
          }
        case (.moveRequested, _):
          if Task.isCancelled { break }
          self.addMoveWait(to: &group)
          guard case .connected = phase, !move.isInProgress else { break }
          move.isInProgress = true
          self.addAttempt(of: move, to: &group)
        case (.openNext, .connected):
          self.openNext(&move, from: current, stallLimit, in: &group)
        case (.openNext, _), (.reconnect, _): break
        }
        if case .over(let result) = phase, !self.flow.hasRetiredLinks || Task.isCancelled {
          self.flow.end(result)
          group.cancelAll()
          return
        }
      }
    }
  }

  private func failure(_ error: any Error, of connection: Connection) -> LinkFailure {
    // The token was accepted and has expired since; the next call requests a new one.
    if (error as? RPCError)?.code == .unauthenticated, self.security.token != nil,
      self.flow.opened(connection.link) != nil
    {
      return .transient
    }
    let failure = LinkFailure(error)
    // Without a resume token, the server refuses the session itself.
    return failure == .precondition && !connection.presentedToken ? .permanent : failure
  }

  /// Returns the limit of the next connection: a server that often pauses for so long is not left as
  /// early again.
  private func stallLimit(after limit: Duration?, opened: Duration) -> Duration? {
    guard let policy = self.options.reconnect, let limit, let first = policy.stallLimit else {
      return nil
    }
    let isYoung = self.clock.now() - opened < policy.silenceLimit
    return isYoung ? max(first, min(policy.silenceLimit, limit * 2)) : first
  }
}

// MARK: Moving

extension SessionRunner {
  private func addMoveWait(to group: inout TaskGroup<Step>) {
    group.addTask {
      await self.flow.waitForMove()
      return .moveRequested
    }
  }

  /// Adds the wait before an attempt to open the connection of a move: the sessions of a server do
  /// not move at the same moment.
  private func addAttempt(of move: Move, to group: inout TaskGroup<Step>) {
    let policy = self.options.reconnect ?? ReconnectPolicy()
    let ceiling = min(policy.maxDelay, policy.initialDelay * (1 << min(move.attempts, 4)))
    let delay = ceiling * self.random()
    group.addTask {
      await self.clock.wait(delay)
      return .openNext
    }
  }

  /// Opens the connection of a move at the next address: of the server's, then of the client's, from
  /// the one after the current.
  private func openNext(
    _ move: inout Move, from current: Connection, _ stallLimit: Duration?,
    in group: inout TaskGroup<Step>
  ) {
    guard move.connection == nil, let request = self.flow.moveRequest else { return }
    // A server cannot lead its clients to the sockets of their hosts, nor reveal their tokens.
    var targets = request.addresses.compactMap { text -> (Address, Int?)? in
      guard let address = try? Address(text), !address.isUnixSocket,
        (try? self.security.validate(for: [address])) != nil
      else { return nil }
      return (address, self.addresses.firstIndex(of: address))
    }
    let start = current.addressIndex.map { $0 + 1 } ?? 0
    targets += self.addresses.indices.map { offset in
      let index = (start + offset) % self.addresses.count
      return (self.addresses[index], index)
    }
    let (address, index) = targets[move.attempts % targets.count]
    move.connection = self.connect(
      to: address, index, usesToken: true, isMove: true, timeout: request.attemptLimit, stallLimit,
      in: &group)
  }
}

extension Address {
  fileprivate var isUnixSocket: Bool { if case .unix = self { true } else { false } }
}

// MARK: One connection

extension SessionRunner {
  /// Opens a connection, and adds the task that serves the session on it.
  private func connect(
    _ attempt: Reconnector.Attempt, _ stallLimit: Duration?, in group: inout TaskGroup<Step>
  ) -> Connection {
    self.connect(
      to: self.addresses[attempt.address], attempt.address, usesToken: attempt.usesToken,
      isMove: false, timeout: attempt.timeout, stallLimit, in: &group)
  }

  private func connect(
    to address: Address, _ addressIndex: Int?, usesToken: Bool, isMove: Bool, timeout: Duration?,
    _ stallLimit: Duration?, in group: inout TaskGroup<Step>
  ) -> Connection {
    let started = self.clock.now()
    let (link, pipeline, token, composition) = self.flow.startOpening(
      usesToken: usesToken, isMove: isMove)
    var open = Sidelight_V1_Open(self.options)
    switch pipeline {
    case .pipeline(let pipeline): open.pipeline = Sidelight_V1_Pipeline(pipeline)
    case .text(let text): open.pipelineText = text
    }
    if let token { open.resumeToken = token }
    if let composition { open.composition = Sidelight_V1_Composition(composition) }
    // Frames in slots of another connection's ring are copied like any other.
    if let sharedMemory = self.options.sharedMemory, composition == nil,
      SharedMemoryRing.isSupported, address.isLocal
    {
      open.sharedMemory = Sidelight_V1_SharedMemoryRequest(sharedMemory)
    }
    let connection = Connection(
      link: link, address: address, addressIndex: addressIndex, started: started,
      presentedToken: token != nil, isMove: isMove)
    group.addTask { [open] in
      do {
        try await self.serve(open, connection, timeout: timeout, stallLimit: stallLimit)
        return .ended(link: link, .success(()))
      } catch {
        return .ended(link: link, .failure(error))
      }
    }
    return connection
  }

  /// Serves the session on one connection, until the server ends it with OK.
  ///
  /// - Throws: The error that ended the session or its connection.
  private func serve(
    _ open: Sidelight_V1_Open, _ connection: Connection, timeout: Duration?, stallLimit: Duration?
  ) async throws {
    enum Part {
      case call
      case timeouts
    }
    try await withThrowingTaskGroup(of: Part.self) { group in
      group.addTask {
        try await self.call(open, connection)
        return .call
      }
      if connection.isMove {
        group.addTask {
          await self.flow.waitUntilDiscarded(connection.link)
          guard Task.isCancelled else {
            throw RPCError(code: .cancelled, message: "The session does not move here.")
          }
          return .timeouts
        }
      }
      if let policy = self.options.reconnect {
        group.addTask {
          try await self.enforceTimeouts(
            policy, opening: min(policy.openTimeout, timeout ?? policy.openTimeout),
            on: connection.link)
          return .timeouts
        }
        if let stallLimit, self.options.dropPolicy == .newestWins {
          group.addTask {
            try await self.enforceStallLimit(stallLimit, on: connection.link)
            return .timeouts
          }
        }
      }
      while let part = try await group.next() {
        if part == .call { group.cancelAll() }
      }
    }
  }

  private func call(_ open: Sidelight_V1_Open, _ connection: Connection) async throws {
    let messages = self.dialer.makeCallMessages()
    let (link, address) = (connection.link, connection.address)
    let group = self.options.group
    let metadata: Metadata = group.isEmpty ? [:] : [SessionGroup.metadataKey: "\(group)"]
    try await self.dialer.withConnection(to: address, on: self.loop) { client in
      try await client.bidirectionalStreaming(
        request: StreamingClientRequest(metadata: metadata) {
          try await self.session.send(on: link, to: $0, opening: open, storedIn: messages)
        },
        descriptor: Sidelight_V1_FrameFilter.Method.Process.descriptor,
        serializer: OutgoingMessageSerializer<Sidelight_V1_ClientMessage>(),
        deserializer: ReceivedMessageDeserializer<Sidelight_V1_ServerMessage>(),
        options: self.dialer.callOptions,
        onResponse: { response in
          try await self.session.receive(on: link, response.messages) { opened in
            let ring =
              opened.hasSharedMemory
              ? await ClientRing.fetch(
                opened.sharedMemory, sessionID: opened.sessionID,
                hasWindow: opened.outputWindow > 0) : nil
            self.flow.open(
              link,
              SessionFlow.OpenedLink(
                id: opened.sessionID, framesInFlight: Int(opened.framesInFlight),
                revision: opened.revision, token: opened.resumeToken, ring: ring,
                event: .restored(address: address, isResumed: connection.presentedToken)))
          }
        })
    }
  }

  /// The silence that ends a connection which the session has left.
  private static let retiredSilence = Duration.seconds(10)

  /// Ends a connection that does not open in time, or on which the server is silent. A network that
  /// loses all packets doesn't cause an error.
  private func enforceTimeouts(
    _ policy: ReconnectPolicy, opening limit: Duration, on link: Int
  ) async throws {
    await self.clock.wait(limit)
    guard Task.isCancelled || self.flow.opened(link) != nil else {
      throw RPCError(
        code: .deadlineExceeded, message: "The session was not opened within \(limit).",
        cause: LinkSilence())
    }
    while !Task.isCancelled {
      let (pinged, current) = (self.clock.now(), self.flow.currentLink)
      if link == current { self.flow.pushHeartbeat() }
      await self.clock.wait(policy.silenceLimit)
      // The connection of a move is silent until the session uses it.
      guard !Task.isCancelled, link <= current else { continue }
      // One that the session has left gets no pings, and its frames may take long.
      let isRetired = link < self.flow.currentLink
      let limit = isRetired ? max(policy.silenceLimit, Self.retiredSilence) : policy.silenceLimit
      let lastActivity = self.flow.lastActivity(on: link)
      let isSilent =
        isRetired ? self.clock.now() - lastActivity >= limit : lastActivity < pinged
      guard !isSilent else {
        throw RPCError(
          code: .unavailable, message: "The server has been silent for \(limit).",
          cause: LinkSilence())
      }
    }
  }

  /// Ends a connection on which no message comes while frames are in flight, and no answer to a ping
  /// either: the server may be busy with a frame.
  private func enforceStallLimit(_ limit: Duration, on link: Int) async throws {
    let interval = limit / 8
    var (checked, pinged) = (self.clock.now(), Duration.zero)
    while !Task.isCancelled {
      await self.clock.wait(interval)
      let now = self.clock.now()
      // After a pause of this process, messages may wait to be read.
      let wasPaused = now - checked > limit / 2
      checked = now
      guard !wasPaused, link == self.flow.currentLink, let stall = self.flow.stall(at: now) else {
        continue
      }
      let longest = max(limit, stall.usual * 2)
      if stall.silence >= longest {
        throw RPCError(
          code: .unavailable,
          message: "No message came for \(stall.silence) while frames were in flight.",
          cause: LinkSilence())
      }
      // Once in each silence.
      if stall.silence >= longest / 2, pinged <= now - stall.silence {
        pinged = now
        self.flow.pushHeartbeat()
      }
    }
  }

  /// Waits for a delay, or until all messages are sent and a further attempt isn't needed.
  private func wait(_ delay: Duration) async {
    guard delay > .zero else { return }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.clock.wait(delay) }
      group.addTask { await self.flow.waitUntilDrained() }
      await group.next()
      group.cancelAll()
    }
  }
}
