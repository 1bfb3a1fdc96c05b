import Foundation
import GRPCCore
import SidelightTransport
import SidelightWire
import SwiftProtobuf
import Synchronization

/// Keeps a session connected: opens it, serves it until the connection ends, and opens it again as
/// often as its policy says.
struct SessionRunner {
  let session: FilterSession
  let options: SessionOptions
  let addresses: [Address]
  let dialer: Dialer
  /// Whether calls carry tokens.
  let usesTokens: Bool
  /// The loop of the session's connections, unless they are shared.
  let loop: ConnectionLoop
  let clock: SessionClock
  /// Returns a uniform random number in 0 ..< 1.
  let random: @Sendable () -> Double

  private var flow: SessionFlow { self.session.flow }

  /// Runs until the session is over. The session's events report how it ended.
  func run() async {
    var reconnector = Reconnector(policy: self.options.reconnect, addressCount: addresses.count)
    var stallLimit = self.options.reconnect?.stallLimit
    while true {
      let started = self.clock.now()
      let (pipeline, token, composition) = self.flow.startOpening(
        usesToken: reconnector.attempt.usesToken)
      var open = Sidelight_V1_Open(self.options)
      switch pipeline {
      case .pipeline(let pipeline): open.pipeline = Sidelight_V1_Pipeline(pipeline)
      case .text(let text): open.pipelineText = text
      }
      if let token { open.resumeToken = token }
      if let composition { open.composition = Sidelight_V1_Composition(composition) }
      // Frames in slots of the previous connection's ring are copied like any other.
      self.session.ring.withLock { $0 = nil }
      if let sharedMemory = self.options.sharedMemory, composition == nil,
        SharedMemoryRing.isSupported,
        self.addresses[reconnector.attempt.address].isLocal
      {
        open.sharedMemory = Sidelight_V1_SharedMemoryRequest(sharedMemory)
      }
      let error: any Error
      do {
        return self.flow.end(
          .success(try await self.serve(open, reconnector.attempt, stallLimit: stallLimit)))
      } catch let failure {
        error = failure
      }
      var failure = LinkFailure(error)
      if let opened = self.flow.linkOpened {
        reconnector.open(at: opened, after: opened - started)
        if failure == .silent { stallLimit = self.stallLimit(after: stallLimit, opened: opened) }
      }
      // The token was accepted and has expired since; the next call requests a new one.
      if (error as? RPCError)?.code == .unauthenticated, self.flow.linkOpened != nil,
        self.usesTokens
      {
        failure = .transient
      }
      // Without a resume token, the server refuses the session itself.
      if failure == .precondition, token == nil { failure = .permanent }
      let action = reconnector.lose(failure, at: self.clock.now(), random: self.random)
      guard !Task.isCancelled, case .retry(let attempt, let delay) = action else {
        return self.flow.end(.failure(error))
      }
      self.flow.loseLink(
        .interrupted(cause: error, attempt: attempt.number, delay: delay))
      await self.wait(delay)
      if Task.isCancelled { return self.flow.end(.failure(error)) }
      if self.flow.isDrained { return self.flow.end(.success(())) }
    }
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

// MARK: One connection

extension SessionRunner {
  /// Serves the session on one connection, until the server ends it with OK.
  ///
  /// - Throws: The error that ended the session or its connection.
  private func serve(
    _ open: Sidelight_V1_Open, _ attempt: Reconnector.Attempt, stallLimit: Duration?
  ) async throws {
    enum Part {
      case call
      case timeouts
    }
    try await withThrowingTaskGroup(of: Part.self) { group in
      group.addTask {
        try await self.call(open, attempt)
        return .call
      }
      if let policy = self.options.reconnect {
        group.addTask {
          try await self.enforceTimeouts(
            policy, opening: min(policy.openTimeout, attempt.timeout ?? policy.openTimeout))
          return .timeouts
        }
        if let stallLimit, self.options.dropPolicy == .newestWins {
          group.addTask {
            try await self.enforceStallLimit(stallLimit)
            return .timeouts
          }
        }
      }
      while let part = try await group.next() {
        if part == .call { group.cancelAll() }
      }
    }
  }

  private func call(_ open: Sidelight_V1_Open, _ attempt: Reconnector.Attempt) async throws {
    let address = self.addresses[attempt.address]
    let messages = self.dialer.makeCallMessages()
    try await self.dialer.withConnection(to: address, on: self.loop) { connection in
      try await connection.bidirectionalStreaming(
        request: StreamingClientRequest {
          try await self.session.send(to: $0, opening: open, storedIn: messages)
        },
        descriptor: Sidelight_V1_FrameFilter.Method.Process.descriptor,
        serializer: OutgoingMessageSerializer<Sidelight_V1_ClientMessage>(),
        deserializer: ReceivedMessageDeserializer<Sidelight_V1_ServerMessage>(),
        options: self.dialer.callOptions,
        onResponse: { response in
          try await self.session.receive(response.messages) { opened in
            if opened.hasSharedMemory {
              let ring = await ClientRing.fetch(
                opened.sharedMemory, sessionID: opened.sessionID,
                hasWindow: opened.outputWindow > 0)
              self.session.ring.withLock { $0 = ring }
            }
            self.flow.open(
              id: opened.sessionID, framesInFlight: Int(opened.framesInFlight),
              revision: opened.revision, token: opened.resumeToken)
            guard attempt.number > 0 else { return }
            let isResumed = !open.resumeToken.isEmpty
            self.flow.push(
              .connection(.restored(address: address, isResumed: isResumed)), topic: "connection")
          }
        })
    }
  }

  /// Ends a connection that does not open in time, or on which the server is silent. A network that
  /// loses all packets doesn't cause an error.
  private func enforceTimeouts(_ policy: ReconnectPolicy, opening limit: Duration) async throws {
    await self.clock.wait(limit)
    guard Task.isCancelled || self.flow.linkOpened != nil else {
      throw RPCError(
        code: .deadlineExceeded, message: "The session was not opened within \(limit).",
        cause: LinkSilence())
    }
    while !Task.isCancelled {
      let pinged = self.clock.now()
      self.flow.pushHeartbeat()
      await self.clock.wait(policy.silenceLimit)
      guard Task.isCancelled || self.flow.lastActivity >= pinged else {
        throw RPCError(
          code: .unavailable, message: "The server has been silent for \(policy.silenceLimit).",
          cause: LinkSilence())
      }
    }
  }

  /// Ends a connection on which no message comes while frames are in flight, and no answer to a ping
  /// either: the server may be busy with a frame.
  private func enforceStallLimit(_ limit: Duration) async throws {
    let interval = limit / 8
    var (checked, pinged) = (self.clock.now(), Duration.zero)
    while !Task.isCancelled {
      await self.clock.wait(interval)
      let now = self.clock.now()
      // After a pause of this process, messages may wait to be read.
      let wasPaused = now - checked > limit / 2
      checked = now
      guard !wasPaused, let stall = self.flow.stall(at: now) else { continue }
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
