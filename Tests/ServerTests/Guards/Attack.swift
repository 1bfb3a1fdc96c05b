import NIOCore
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// An attack on a server, and the check whether the guard against it is active.
struct Attack: Sendable {
  /// The guard that stops it.
  var target: Guard
  /// Other guards that would stop it too.
  var others: Set<Guard> = []
  /// The protocol that carries its calls.
  var carrier = Carrier.http2
  /// Sets short timeouts and low limits.
  var configure: @Sendable (inout ServerConfiguration) -> Void = { _ in }
  /// Sets timeouts that reveal that the guards have not acted. If the harm is inactivity, the
  /// server's own keepalive PING shows that it has lasted for long.
  var setClock: @Sendable (inout ServerConfiguration) -> Void = {
    $0.guards.keepaliveInterval = Self.longAfter
  }
  /// Performs the attack. Returns whether the guard has stopped it; `false` once the harm shows.
  /// Does not return if neither happens.
  var isStopped: @Sendable (SidelightServer, Address) async throws -> Bool

  static let process = "/sidelight.v1.FrameFilter/Process"
  static let info = "/sidelight.v1.FrameFilter/GetServerInfo"
  /// The timeout of the guard under test.
  static let shortTimeout = Duration.milliseconds(60)
  /// The time after which an action due after `shortTimeout` counts as missing.
  static let longAfter = shortTimeout * 10

  /// One attack per guard, except the shutdown's, which has a separate test.
  static let all: [Attack] = http2 + onCallLimits(over: .http2)

  /// Attacks on HTTP/2 connections.
  private static let http2: [Attack] = [
    Attack(
      target: .connectionCap, configure: { $0.guards.maxConnectionsPerAddress = 2 },
      isStopped: { _, address in
        try await withRawPeer(address) { first in
          _ = await first.next { _ in true }
          return try await withRawPeer(address) { second in
            _ = await second.next { _ in true }
            return try await withRawPeer(address) { third in
              third.send(RawPeer.preface)
              third.ping()
              return await third.next(where: \.isPingAnswer) == nil
            }
          }
        }
      }),
    Attack(
      target: .preface, configure: { $0.guards.prefaceTimeout = Self.shortTimeout },
      isStopped: { _, address in
        try await withRawPeer(address) { peer in
          peer.send(ByteBuffer(string: "PRI * HTTP/2"))
          return await peer.next(where: \.isKeepalive) == nil
        }
      }),
    Attack(
      target: .connectionStall, others: [.callStall],
      configure: {
        $0.guards.writeStallTimeout = Self.shortTimeout
        $0.transport.streamWindowBytes = 64 << 20
      },
      isStopped: { server, address in
        try await withRawPeer(address, reads: false) { peer in
          peer.send(RawPeer.preface)
          peer.openWindows()
          try peer.sendPictures()
          try await expectEventually("the session is open") { server.sessionCount == 1 }
          return try await Self.sessionsEnd(on: server, beforePingOf: address, over: .http2)
        }
      }),
    Attack(
      target: .pings,
      isStopped: { _, address in
        try await withRawPeer(address) { peer in
          peer.send(RawPeer.preface)
          for _ in 0 ..< 300 { peer.ping() }
          var answers = 0
          while answers < 300, let frame = await peer.next(where: { _ in true }) {
            if frame.isGoAway { return false }
            if frame.isPingAnswer { answers += 1 }
          }
          return answers == 300
        }
      }),
    Attack(
      target: .resets,
      isStopped: { _, address in
        try await withRawPeer(address) { peer in
          peer.send(RawPeer.preface)
          for stream: UInt32 in stride(from: 1, to: 361, by: 2) {
            peer.call(Self.process, stream: stream)
            peer.send(
              RawPeer.frame(3, flags: 0, stream: stream, ByteBuffer(integer: UInt32(8))))
          }
          peer.ping()
          return await peer.next(where: \.isPingAnswer) == nil
        }
      }),
    Attack(
      target: .lateFrames,
      isStopped: { server, address in
        try await Self.fillTheConnection(of: server, at: address) { peer in
          // The client resets the call while the server waits to grant it a larger window.
          peer.send(RawPeer.frame(3, flags: 0, stream: 1, ByteBuffer(integer: UInt32(8))))
          try await expectEventually("the session has ended") { server.sessionCount == 0 }
          peer.readOn()
          peer.call(Self.info, stream: 3)
          peer.data(RawPeer.message([]), stream: 3, isEnd: true)
          return await peer.status(stream: 3) == 0
        }
      }),
    Attack(
      target: .lateFrames,
      isStopped: { server, address in
        try await Self.fillTheConnection(of: server, at: address) { peer in
          // The call ends with OK while the server waits to grant it a larger window.
          peer.data(ByteBuffer(), isEnd: true)
          try await expectEventually("both frames have arrived") {
            server.status.sessions.first?.frames.received == 2
          }
          peer.readOn()
          return await peer.status() == 0
        }
      }),
    Attack(
      target: .compression,
      isStopped: { _, address in
        try await withRawPeer(address) { peer in
          peer.send(RawPeer.preface)
          peer.call(Self.process)
          peer.data(ByteBuffer(bytes: [1, 0, 0, 0, 1, 0]))
          return await peer.outcome() == .status(12)
        }
      }),
    Attack(
      target: .truncatedMessage,
      isStopped: { _, address in
        try await withRawPeer(address) { peer in
          peer.send(RawPeer.preface)
          peer.call(Self.process)
          peer.data(RawPeer.message([1, 2, 3], length: 100), isEnd: true)
          return await peer.outcome() == .status(3)
        }
      }),
    Attack(
      target: .emptyCall,
      isStopped: { _, address in
        try await withRawPeer(address) { peer in
          peer.send(RawPeer.preface)
          peer.call(Self.process, isEnd: true)
          return await peer.outcome() == .status(9)
        }
      }),
  ]

  /// Attacks on the limits of a call, which are the same for each protocol.
  static func onCallLimits(over carrier: Carrier) -> [Attack] {
    [
      Attack(
        target: .keepalive, carrier: carrier,
        configure: {
          $0.guards.keepaliveInterval = Self.shortTimeout
          $0.guards.keepaliveTimeout = Self.shortTimeout
        },
        setClock: { $0.guards.lingerTimeout = Self.longAfter },
        isStopped: { _, address in
          try await withCallPeer(address, over: carrier) { peer in
            try await peer.send(message: [])
            var isAsked = false
            while true {
              switch try await peer.outcome() {
              case .none: isAsked = true
              case .status: break
              case .reset, .closed: return isAsked
              }
            }
          }
        }),
      Attack(
        target: .deadline, carrier: carrier,
        isStopped: { _, address in
          try await withCallPeer(address, over: carrier, timeout: "60m") { peer in
            try await peer.outcome() == .status(4)
          }
        }),
      Attack(
        target: .messageSize, others: [.unfinishedMessages], carrier: carrier,
        isStopped: { _, address in
          try await withCallPeer(address, over: carrier) { peer in
            try await peer.send(message: [1, 2, 3], length: 0xFFFF_FFFF)
            return try await peer.outcome() == .status(8)
          }
        }),
      Attack(
        target: .unfinishedMessages, carrier: carrier,
        configure: { $0.guards.maxUnfinishedBytesPerAddress = 1 << 20 },
        isStopped: { _, address in
          try await withCallPeer(address, over: carrier) { first in
            try await withCallPeer(address, over: carrier) { second in
              for peer in [first, second] {
                try await peer.send(message: [1, 2, 3], length: 600_000)
              }
              return try await firstOf {
                try await first.outcome() == .status(8)
              } or: {
                try await second.outcome() == .status(8)
              }
            }
          }
        }),
      Attack(
        target: .messageFields, carrier: carrier,
        configure: { $0.guards.maxMessageFields = 100 },
        isStopped: { _, address in
          try await withCallPeer(address, over: carrier) { peer in
            // activate { stages {} stages {} ... }: 120 empty entries.
            let entries = (0 ..< 120).flatMap { _ in [0x0A, 0x00] as [UInt8] }
            try await peer.send(message: [0x9A, 0x01, 0xF0, 0x01] + entries)
            return try await peer.outcome() == .status(8)
          }
        }),
      Attack(
        target: .callStall, others: [.connectionStall], carrier: carrier,
        configure: {
          $0.guards.writeStallTimeout = Self.shortTimeout
          $0.transport.streamWindowBytes = 64 << 20
        },
        isStopped: { server, address in
          try await withCallPeer(address, over: carrier, reads: false) { peer in
            let open = Sidelight_V1_ClientMessage.open()
            try await peer.send(message: try open.serializedBytes())
            try await expectEventually("the session is open") { server.sessionCount == 1 }
            let picture = Sidelight_V1_Image.noise(.gray8, 2048, 2048)
            for sequence: UInt64 in 1 ... 4 {
              let frame = Sidelight_V1_ClientMessage.frame(sequence, picture)
              // The server may have closed the connection.
              try? await peer.send(message: try frame.serializedBytes())
            }
            return try await Self.sessionsEnd(on: server, beforePingOf: address, over: carrier)
          }
        }),
      Attack(
        target: .linger, carrier: carrier,
        configure: { $0.guards.lingerTimeout = Self.shortTimeout },
        isStopped: { _, address in
          try await withCallPeer(address, over: carrier) { peer in
            // The call gets its status immediately, and the client does not end it.
            try await peer.send(message: [])
            guard try await peer.outcome() == .status(9) else { return false }
            return try await peer.outcome() == .reset
          }
        }),
    ]
  }

  /// Waits until all sessions have ended.
  ///
  /// - Returns: `false` if another connection gets a keepalive ping first.
  private static func sessionsEnd(
    on server: SidelightServer, beforePingOf address: Address, over carrier: Carrier
  ) async throws -> Bool {
    try await withCallPeer(address, over: carrier) { clock in
      try await firstOf {
        while server.sessionCount > 0 { try await Task.sleep(for: .milliseconds(1)) }
        return true
      } or: {
        try await clock.outcome() != .none
      }
    }
  }
}

extension Attack {
  /// Makes a session write more than the connection accepts, and sends so much that the server
  /// would grant a larger window if it could write.
  ///
  /// - Parameter body: Continues the test. The peer does not read until it is released.
  private static func fillTheConnection(
    of server: SidelightServer, at address: Address, _ body: (RawPeer) async throws -> Bool
  ) async throws -> Bool {
    try await withRawPeer(address, readsFirst: 64 << 10) { peer in
      peer.send(RawPeer.preface)
      peer.openWindows()
      peer.call(Self.process)
      try peer.send([.open()])
      // Of the window of 4 MiB two are granted again as often as two are used. That leaves 2.6, and
      // somewhat more where a grant came late.
      try peer.send([.frame(1, .noise(.gray8, 2048, 4813))])
      // All of the picture is written at once, and waits, if the first of it has come.
      guard await peer.next(where: \.isData) != nil,
        await peer.next(where: { $0.isData && $0.payload.readableBytes > 1000 }) != nil
      else { return false }
      try peer.send([.frame(2, .noise(.gray8, 2048, 928))])
      return try await body(peer)
    }
  }
}

/// Returns the first of two results, and cancels the other task.
private func firstOf(
  _ one: @escaping @Sendable () async throws -> Bool,
  or other: @escaping @Sendable () async throws -> Bool
) async throws -> Bool {
  try await withThrowingTaskGroup(of: Bool.self) { group in
    group.addTask { try await one() }
    group.addTask { try await other() }
    defer { group.cancelAll() }
    return try await group.next() ?? false
  }
}

extension RawPeer {
  /// Opens the windows of the connection and of new streams to their maximum.
  fileprivate func openWindows() {
    var setting = ByteBuffer()
    setting.writeMultipleIntegers(UInt16(4), UInt32(0x7FFF_FFFF))
    self.send(Self.frame(4, flags: 0, stream: 0, setting))
    self.send(Self.frame(8, flags: 0, stream: 0, ByteBuffer(integer: UInt32(0x7FFF_0000))))
  }

  /// Opens a session without filters, and sends frames of 16 MB in total.
  fileprivate func sendPictures() throws {
    self.call(Attack.process)
    let picture = Sidelight_V1_Image.noise(.gray8, 2048, 2048)
    try self.send([.open()] + (1 ... 4).map { .frame($0, picture) })
  }

  /// Sends messages of a session, regardless of the windows.
  fileprivate func send(_ messages: [Sidelight_V1_ClientMessage]) throws {
    for message in messages {
      let bytes: [UInt8] = try message.serializedBytes()
      var framed = RawPeer.message(bytes)
      while let part = framed.readSlice(length: min(16384, framed.readableBytes)),
        part.readableBytes > 0
      {
        self.data(part)
      }
    }
  }
}
