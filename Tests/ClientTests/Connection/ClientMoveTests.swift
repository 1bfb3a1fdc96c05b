import Foundation
import GRPCCore
import SidelightClient
import SidelightCodecs
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Sessions that a server moves elsewhere, without losing a frame.
@Suite(.timeLimit(.minutes(5))) struct ClientMoveTests {
  static func options(_ pipeline: Pipeline, frames: SessionOptions.DropPolicy = .newestWins)
    -> SessionOptions
  {
    SessionOptions(
      pipeline: pipeline, dropPolicy: frames,
      reconnect: ReconnectPolicy(initialDelay: .milliseconds(1)))
  }

  /// Asks the session's client to continue at another server.
  @discardableResult
  static func move(_ id: String, from address: Address, to target: Address?) async throws -> Bool {
    try await withOperators(address) { operators in
      try await operators.moveSession(
        .with {
          $0.sessionID = id
          $0.address = target?.description ?? ""
        }
      ).handsOver
    }
  }

  @Test(arguments: [SessionOptions.DropPolicy.newestWins, .neverDrop])
  func `thirty moves in a stream lose no frame and keep the order`(
    policy: SessionOptions.DropPolicy
  ) async throws {
    let shot = try picture(64, 48)
    try await Reconnecting.withServers { first, second in
      let addresses = [try await first.address, try await second.address]
      // The session knows one address only.
      try await SidelightClient.connect(to: addresses[0]) { client in
        try await client.withSession(Self.options([.filter("colorInvert")], frames: policy)) {
          session in
          var received = ReceivedEvents(session)
          var sent: UInt64 = 0
          for number in 0 ..< 30 {
            let target = addresses[(number + 1) % 2]
            #expect(try await Self.move(session.id, from: addresses[number % 2], to: target))
            var isMoved = false
            while !isMoved {
              await session.send(VideoFrame(shot))
              sent += 1
              var isBack = false
              while !isBack {
                let event = try #require(try await received.next { $0 })
                switch event {
                case .outcome(.filtered(let frame)):
                  #expect(frame.sequence == sent)
                  isBack = true
                case .outcome(.dropped(let frame)): Issue.record("\(frame)")
                case .connection(.restored(let address, let isResumed)):
                  #expect(address == target)
                  #expect(isResumed)
                  isMoved = true
                case .connection(.interrupted): Issue.record("\(event)")
                default: break
                }
              }
            }
          }
          session.finish()
          try await received.drain()
          #expect(received.outcomes == Array(1 ... sent))
          #expect(session.counts.filtered == sent)
        }
      }
    }
  }

  @Test func `frames in flight return from the old server, and later ones from the new`()
    async throws
  {
    let (old, new) = (Gate(), Gate())
    let shot = try picture(16, 8)
    try await Reconnecting.withServers(
      RunningServer(Reconnecting.configuration(), catalogue: old.catalogue),
      RunningServer(Reconnecting.configuration(), catalogue: new.catalogue)
    ) { first, second in
      let addresses = [try await first.address, try await second.address]
      try await SidelightClient.connect(to: addresses) { client in
        try await client.withSession(Self.options([.filter("gate")])) { session in
          var received = ReceivedEvents(session)
          await session.send(VideoFrame(shot))
          for await _ in old.entered { break }
          first.drain()
          #expect(try await received.restored()?.address == addresses[1])
          new.open(for: 10)
          await session.send(VideoFrame(shot))
          for await _ in new.entered { break }
          old.open(for: 1)
          session.finish()
          try await received.drain()
          #expect(received.outcomes == [1, 2])
          #expect(session.counts.filtered == 2)
        }
      }
    }
  }

  @Test(.enabled(if: VideoCodec.vp8.canEncode, "built without the codecs"))
  func `encoded video moves at a key frame, which the client asks for`() async throws {
    let stream = try EncodedStream(.vp8, count: 40, keyFrames: [20])
    var options = Self.options([.filter("colorInvert")])
    options.output = OutputOptions(format: .encoded(.vp8))
    try await Reconnecting.withServers { [options] first, second in
      let addresses = [try await first.address, try await second.address]
      try await SidelightClient.connect(to: addresses) { client in
        try await client.withSession(options) { session in
          var received = ReceivedEvents(session)
          let before = session.id
          var keyFrames: [UInt64] = []
          func pass(_ index: Int) async throws {
            await session.send(try ClientEncodedFrameTests.frame(stream, index))
            let frame = try #require(try await received.filtered())
            #expect(frame.sequence == UInt64(index + 1))
            if frame.picture.encoded?.isKeyFrame == true { keyFrames.append(frame.sequence) }
          }
          for index in 0 ..< 5 { try await pass(index) }
          try await Self.move(before, from: addresses[0], to: nil)
          while second.server.sessionCount == 0 { await Task.yield() }
          for index in 5 ..< 20 {
            try await pass(index)
            #expect(session.id == before, "frame \(index) depends on the one before it")
          }
          for index in 20 ..< 40 { try await pass(index) }
          #expect(session.id != before)
          #expect(keyFrames == [1, 21])
          session.finish()
          try await received.drain()
          #expect(received.outcomes == Array(1 ... 40))
        }
      }
    }
  }

  @Test func `changes before, during and after a move are in force at the new server`()
    async throws
  {
    let shot = try picture(16, 8)
    try await Reconnecting.withServers { first, second in
      let addresses = [try await first.address, try await second.address]
      try await SidelightClient.connect(to: addresses) { client in
        try await client.withSession(Self.options([])) { session in
          var received = ReceivedEvents(session)
          for number in 0 ..< 10 {
            session.select(number % 2 == 0 ? [.filter("colorInvert")] : [])
            try await Self.move(session.id, from: addresses[number % 2], to: nil)
            #expect(try await received.restored()?.isResumed == true)
            await session.send(VideoFrame(shot))
            let frame = try #require(try await received.filtered())
            let isInverted = frame.picture.bytes != VideoPicture.frame(shot).bytes
            #expect(isInverted == (number % 2 == 0), "move \(number)")
          }
        }
      }
    }
  }

  @Test func `a change during the opening of a move survives the loss of the old server`()
    async throws
  {
    let shot = try picture(16, 8)
    try await Reconnecting.withServers { first, second in
      let address = try await first.address
      try await HoldingProxy.withProxy(to: try await second.address, holdingAfter: 0) { proxy in
        try await SidelightClient.connect(to: [address, proxy.address]) { client in
          try await client.withSession(Self.options([])) { session in
            var received = ReceivedEvents(session)
            try await Self.move(session.id, from: address, to: nil)
            for await _ in proxy.held { break }
            session.select([.filter("colorInvert")])
            await session.send(VideoFrame(shot))
            #expect(try await received.applied() != nil)
            await first.kill()
            _ = try await received.interrupted()
            async let _: Void = {
              while !Task.isCancelled {
                proxy.release()
                try await Task.sleep(for: .milliseconds(5))
              }
            }()
            #expect(try await received.restored()?.isResumed == true)
            await session.send(VideoFrame(shot))
            var frame = try #require(try await received.filtered())
            if frame.sequence == 1 { frame = try #require(try await received.filtered()) }
            #expect(frame.picture.bytes != VideoPicture.frame(shot).bytes)
          }
        }
      }
    }
  }

  /// Runs a session of encoded video that is about to move, but waits for its key frame, frame 21.
  ///
  /// - Parameters:
  ///   - before: Runs before the move is requested.
  ///   - body: Runs when the second server has opened its session.
  static func withWaitingMove(
    before: @Sendable (RunningServer, FilterSession, inout ReceivedEvents) async throws -> Void = {
      _, _, _ in
    },
    _ body:
      @Sendable (
        _ first: RunningServer, _ second: RunningServer, FilterSession, inout ReceivedEvents,
        _ frames: [VideoFrame]
      ) async throws -> Void
  ) async throws {
    let stream = try EncodedStream(.vp8, count: 40, keyFrames: [20, 30])
    let frames = try (0 ..< 40).map { try ClientEncodedFrameTests.frame(stream, $0) }
    var options = Self.options([.filter("colorInvert")])
    options.output = OutputOptions(format: .encoded(.vp8))
    try await Reconnecting.withServers { [options] first, second in
      let addresses = [try await first.address, try await second.address]
      try await SidelightClient.connect(to: addresses) { client in
        try await client.withSession(options) { session in
          var received = ReceivedEvents(session)
          try await before(first, session, &received)
          for frame in frames[..<5] {
            await session.send(frame)
            _ = try await received.filtered()
          }
          try await Self.move(session.id, from: addresses[0], to: nil)
          while second.server.sessionCount == 0 { await Task.yield() }
          try await body(first, second, session, &received, frames)
        }
      }
    }
  }

  /// Sends frames 6 to 21, of which the last is sent to the new server.
  static func finishMove(
    _ session: FilterSession, _ received: inout ReceivedEvents, _ frames: [VideoFrame]
  ) async throws -> [SessionState] {
    let before = session.id
    var states: [SessionState] = []
    func pass(_ frame: VideoFrame) async throws {
      await session.send(frame)
      _ = try await received.next { event -> FilteredFrame? in
        if case .state(let state) = event { states.append(state) }
        if case .outcome(.filtered(let frame)) = event { return frame }
        return nil
      }
    }
    for frame in frames[5 ..< 20] { try await pass(frame) }
    #expect(session.id == before)
    try await pass(frames[20])
    #expect(session.id != before)
    return states
  }

  @Test(.enabled(if: VideoCodec.vp8.canEncode, "built without the codecs"))
  func `an override during a move is in force at the new server`() async throws {
    try await Self.withWaitingMove { first, second, session, received, frames in
      try await Reconnecting.override(
        session.id, at: try await first.address, with: [.filter("sepiaTone")])
      #expect(try await received.state() == .overridden(reason: "indecent"))
      // The session moves only to a connection with the newest token.
      try await withOperators(try await second.address) { operators in
        for _ in 0 ..< 200 {
          let sessions = try await operators.listSessions(.init()).sessions
          if sessions.count == 1, sessions[0].state == .overridden { break }
          try await Task.sleep(for: .milliseconds(10))
        }
      }
      #expect(
        try await Self.finishMove(session, &received, frames) == [.overridden(reason: "indecent")],
        "the new server reports it again")
    }
  }

  @Test(.enabled(if: VideoCodec.vp8.canEncode, "built without the codecs"))
  func `an override before a move is in force at the new server, and no original is shown later`()
    async throws
  {
    try await Self.withWaitingMove { first, session, received in
      try await Reconnecting.override(
        session.id, at: try await first.address, with: [.filter("sepiaTone")])
      #expect(try await received.state() == .overridden(reason: "indecent"))
    } _: { first, second, session, received, frames in
      #expect(
        try await Self.finishMove(session, &received, frames) == [.overridden(reason: "indecent")])
      await first.kill()
      await second.kill()
      _ = try await received.interrupted()
      await session.send(frames[30])
      let dropped = try #require(try await received.dropped())
      #expect(dropped.fallback == nil)
    }
  }

  @Test func `a server that does not answer leaves time to move to another`() async throws {
    try await Reconnecting.withServers { first, second in
      let addresses = [try await first.address, try await second.address]
      try await HoldingProxy.withProxy(to: addresses[1], holdingAfter: 0) { proxy in
        try await SidelightClient.connect(to: addresses) { client in
          try await client.withSession(Self.options([])) { session in
            var received = ReceivedEvents(session)
            try await Self.move(session.id, from: addresses[0], to: proxy.address)
            let event = try await received.next { event -> ConnectionEvent? in
              if case .connection(let event) = event { event } else { nil }
            }
            guard case .restored(let address, true)? = event else {
              Issue.record("\(String(describing: event))")
              return
            }
            #expect(address == addresses[1])
          }
        }
      }
    }
  }

  @Test func `an operator closes a session, and its client sees the reason`() async throws {
    let shot = try picture(16, 8)
    try await Reconnecting.withServers { first, _ in
      let address = try await first.address
      let error = await Reconnecting.status {
        try await SidelightClient.connect(to: address) { client in
          try await client.withSession(Self.options([])) { session in
            var received = ReceivedEvents(session)
            await session.send(VideoFrame(shot))
            _ = try await received.outcome()
            let id = session.id
            try await withOperators(address) { operators in
              _ = try await operators.closeSession(
                .with {
                  $0.sessionID = id
                  $0.reason = "too loud"
                })
            }
            try await received.drain()
          }
        }
      }
      #expect(error?.code == .permissionDenied)
      #expect(error?.message.contains("too loud") == true)
    }
  }

  @Test func `a client that does not reconnect is told that its session ends`() async throws {
    try await Reconnecting.withServers { first, _ in
      let address = try await first.address
      let error = await Reconnecting.status {
        try await SidelightClient.connect(to: address) { client in
          try await client.withSession { session in
            var received = ReceivedEvents(session)
            #expect(try await Self.move(session.id, from: address, to: nil) == false)
            #expect(try await received.state() == .draining)
            try await received.drain()
          }
        }
      }
      #expect(error?.code == .unavailable)
    }
  }

  @Test(arguments: ["nowhere", "unix:/tmp/socket", "127.0.0.1:0", "127.0.0.1:70000"])
  func `a wrong address is refused, and the session stays`(target: String) async throws {
    try await Reconnecting.withServers { first, _ in
      let address = try await first.address
      try await SidelightClient.connect(to: address) { client in
        try await client.withSession(Self.options([])) { session in
          let id = session.id
          let error = await Reconnecting.status {
            try await withOperators(address) { operators in
              _ = try await operators.moveSession(
                .with {
                  $0.sessionID = id
                  $0.address = target
                })
            }
          }
          #expect(error?.code == .invalidArgument)
          #expect(error?.message.contains("address") == true)
          for call in ["no", ""] {
            let missing = await Reconnecting.status {
              try await Self.move(call, from: address, to: nil)
            }
            #expect(missing?.code == .notFound)
          }
          #expect(session.id == id)
        }
      }
    }
  }
}

/// Sessions that leave a hot server.
@Suite(.timeLimit(.minutes(5))) struct ClientRebalancingTests {
  /// Sends a frame and waits until it is back.
  ///
  /// - Returns: The server at which the session has continued meanwhile.
  static func filter(
    _ shot: Frame, in session: FilterSession, _ received: inout ReceivedEvents
  ) async throws -> Address? {
    await session.send(VideoFrame(shot))
    var server: Address?
    while true {
      let event = try #require(try await received.next { $0 })
      switch event {
      case .outcome(.filtered): return server
      case .outcome:
        Issue.record("\(event)")
        return server
      case .connection(.restored(let address, let isResumed)):
        #expect(isResumed)
        server = address
      default: break
      }
    }
  }

  @Test func `a hot server moves a session, without losing a frame, and keeps groups`()
    async throws
  {
    let shots = (single: try picture(64, 48), grouped: try picture(256, 192))
    let second = RunningServer(Reconnecting.configuration())
    try await withThrowingDiscardingTaskGroup { group in
      group.addTask { await second.run() }
      let target = try await second.address
      var configuration = Reconnecting.configuration()
      configuration.placement.peers = [target]
      configuration.placement.rebalancing = .direct
      // Hot at any load, at once.
      configuration.placement.limits.hot = -1
      configuration.placement.limits.time = .zero
      configuration.placement.limits.interval = .zero
      let first = RunningServer(configuration)
      group.addTask { await first.run() }
      let address = try await first.address
      try await SidelightClient.connect(to: address) { client in
        let options = ClientMoveTests.options([.filter("colorInvert")])
        var inRoom = options
        inRoom.group = "room"
        // It has the most work, and would move first.
        try await client.withSession(inRoom) { grouped in
          try await client.withSession(options) { session in
            var (received, ofGroup) = (ReceivedEvents(session), ReceivedEvents(grouped))
            var (sent, server): (UInt64, Address?) = (0, nil)
            while server == nil {
              #expect(try await Self.filter(shots.grouped, in: grouped, &ofGroup) == nil)
              server = try await Self.filter(shots.single, in: session, &received)
              sent += 1
            }
            #expect(server == target)
            for each in [session, grouped] { each.finish() }
            try await received.drain()
            try await ofGroup.drain()
            #expect(session.counts.filtered == sent)
            #expect(grouped.counts.filtered == sent)
          }
        }
        // The client asks the first server for the best.
        #expect(try await client.place(group: "room") == [target])
      }
      await first.kill()
      await second.kill()
    }
  }

  @Test(arguments: [false, true])
  func `a server that shuts down names a new server, else another, and not itself`(
    hasNewServer: Bool
  ) async throws {
    let shot = try picture(64, 48)
    try await Reconnecting.withServers { old, new in
      var peers = [try await old.address]
      if hasNewServer { peers.append(try await new.address) }
      try await SidelightClient.connect(to: peers[0]) { client in
        // As many sessions as at the server that shuts down.
        try await client.withSession(ClientMoveTests.options([])) { _ in
          let socket = try await ListeningSocket(at: .tcp(host: "127.0.0.1", port: 0))
          var configuration = Reconnecting.configuration()
          configuration.listeningDescriptors = [dup(socket.descriptor)]
          socket.close()
          configuration.placement.peers = peers + [socket.address]
          configuration.placement.rebalancing = .direct
          let first = RunningServer(configuration, listeningOn: socket.address)
          try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await first.run() }
            try await SidelightClient.connect(to: try await first.address) { client in
              try await client.withSession(ClientMoveTests.options([.filter("colorInvert")])) {
                session in
                try await expectEventually("all report") {
                  (try? await client.place())?.count == peers.count + 1
                }
                var received = ReceivedEvents(session)
                first.drain()
                var server: Address?
                while server == nil { server = try await Self.filter(shot, in: session, &received) }
                #expect(server == peers.last)
                session.finish()
                try await received.drain()
              }
            }
            await first.kill()
          }
        }
      }
    }
  }
}
