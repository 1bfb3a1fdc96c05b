import GRPCCore
import NIOCore
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Tests of the answers to changes that the server accepts.
@Suite(.timeLimit(.minutes(5))) struct AcceptedTests {
  static let image = Sidelight_V1_Image.noise(.bgra8, 16, 12)

  /// The answers to changes and pings, in order: `accepted 7 as 2`, `error 8`, `pong 9`.
  static func log(_ messages: [Sidelight_V1_ServerMessage]) -> [String] {
    messages.compactMap { message in
      switch message.kind {
      case .accepted(let accepted)?: "accepted \(accepted.requestID) as \(accepted.revision)"
      case .error(let error)?: "error \(error.requestID)"
      case .pong(let pong)?: "pong \(pong.id)"
      default: nil
      }
    }
  }

  /// Changes of every kind, some of them invalid, and a ping.
  static let changes: [Sidelight_V1_ClientMessage] = [
    .select(ControlTests.looks, requestID: 1),
    .select([.filter("nothing")], requestID: 2),
    PipelineTextRequestTests.select(text: "warm: sepiaTone, negative: colorInvert", requestID: 3),
    PipelineTextRequestTests.select(text: "sepiaTone(", requestID: 4),
    .with {
      $0.update.stages = [
        .with {
          $0.stage = "warm"
          $0.parameters = ["intensity": .with { $0.number = 0.5 }]
        }
      ]
      $0.update.requestID = 5
    },
    .with {
      $0.activate.stages = ["nobody": false]
      $0.activate.requestID = 6
    },
    .with {
      $0.activate.stages = ["negative": false]
      $0.activate.requestID = 7
    },
    .with { $0.ping.id = 8 },
    .with {
      $0.update.ifRevision = 1
      $0.update.requestID = 9
    },
  ]

  static let answers = [
    "accepted 1 as 2", "error 2", "accepted 3 as 3", "error 4", "accepted 5 as 4", "error 6",
    "accepted 7 as 5", "pong 8", "error 9",
  ]

  @Test(arguments: [false, true])
  func `each change is answered at once, in order, without frames and during a pause`(
    isPaused: Bool
  ) async throws {
    let received = try await withServer { _, address in
      try await withStub(address) { stub in
        let (answers, answer) = AsyncStream<Void>.makeStream()
        return try await stub.process { writer in
          var iterator = answers.makeAsyncIterator()
          try await writer.write(.open())
          if isPaused { try await writer.write(.with { $0.pause = .init() }) }
          // A change is sent when the previous one is answered, which excludes later messages as
          // the cause of an answer.
          for change in Self.changes {
            try await writer.write(change)
            await iterator.next()
          }
        } onResponse: { response in
          var received: [Sidelight_V1_ServerMessage] = []
          for try await message in response.messages {
            received.append(message)
            if !Self.log([message]).isEmpty { answer.yield() }
          }
          return received
        }
      }
    }
    #expect(Self.log(received) == Self.answers)
    #expect(received.applied.isEmpty, "no frame was filtered")
  }

  @Test func `answers keep the order of changes that are sent together`() async throws {
    let received = try await ControlTests.converse([.open()] + Self.changes)
    #expect(Self.log(received) == Self.answers)
  }

  @Test func `a change is accepted before it is applied`() async throws {
    var messages: [Sidelight_V1_ClientMessage] = [.open()]
    for number: UInt64 in 1 ... 100 {
      let name = number.isMultiple(of: 2) ? "sepiaTone" : "colorInvert"
      messages.append(PipelineTextRequestTests.select(text: name, requestID: number))
      messages.append(.frame(number, Self.image))
    }
    var accepted: [UInt64: UInt64] = [:]
    for message in try await ControlTests.converse(messages) {
      switch message.kind {
      case .accepted(let answer)?: accepted[answer.revision] = answer.requestID
      case .applied(let applied)?:
        #expect(accepted[applied.revision] == applied.requestID)
      default: break
      }
    }
    #expect(accepted.count == 100)
  }

  @Test func `a change during an override is accepted, and its frames keep the override`()
    async throws
  {
    try await OverrideTests.withSession(.open([.filter("sepiaTone")])) { session in
      #expect(try await session.override(with: [.filter("gaussianBlur")]) == 2)
      let during = try await session.send(
        .select([.filter("colorInvert")], requestID: 9),
        .select([.filter("nothing")], requestID: 10), .frame(1, OverrideTests.image))
      #expect(Self.log(during) == ["accepted 9 as 3", "error 10"])
      #expect(during.applied.map(\.requestID) == [0])
      #expect(during.frames.map(\.revision) == [3])
      session.clock.advance(by: .seconds(11))
      let after = try await session.send(.frame(2, OverrideTests.image))
      #expect(after.applied.map(\.requestID) == [9])
      #expect(after.accepted.isEmpty, "it was accepted once")
    }
  }

  @Test func `the features name texts and acceptances`() async throws {
    let features = try await withServer { _, address in
      try await withStub(address) { stub in try await stub.getServerInfo(.init()).features }
    }
    #expect(features.contains("process.accepted"))
    #expect(features.contains("process.pipeline_text"))
  }

  @Test func `a flood of changes waits for a client that does not read, and loses no answer`()
    async throws
  {
    // More than the transport's buffer holds.
    let count: UInt64 = 8000
    try await withServer { _, address in
      try await withConnection(address) { client in
        let operators = Sidelight_V1_Sessions.Client(wrapping: client)
        func revision() async throws -> UInt64 {
          try await operators.listSessions(.init()).sessions.first?.revision ?? 0
        }
        try await withRawPeer(address) { peer in
          // An empty window for the server's data.
          var settings = ByteBuffer()
          settings.writeMultipleIntegers(UInt16(4), UInt32(0))
          peer.send(ByteBuffer(string: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
          peer.send(RawPeer.frame(4, flags: 0, stream: 0, settings))
          peer.call(Attack.process)
          ControlFloodTests.send(
            try ControlFloodTests.framed(
              [.open(policy: .newestWins)]
                + (1 ... count).map { .select([.filter("sepiaTone")], requestID: $0) }),
            on: peer)
          // The bytes have arrived. A server that kept answers without bound would handle them all.
          var (last, readings) = (UInt64(0), 0)
          try await expectEventually("answers wait") {
            let current = try await revision()
            readings = current == last && current > 1 ? readings + 1 : 0
            last = current
            return readings == 200
          }
          #expect(last < count)
          peer.data(ByteBuffer(), isEnd: true)
          for stream in [UInt32(0), 1] {
            peer.send(
              RawPeer.frame(8, flags: 0, stream: stream, ByteBuffer(integer: UInt32(1 << 30))))
          }
          var bytes = ByteBuffer()
          while let frame = await peer.next(where: { $0.stream == 1 }), frame.status == nil {
            if frame.isData { bytes.writeImmutableBuffer(frame.payload) }
          }
          var requests: [UInt64] = []
          while let length = bytes.getInteger(at: bytes.readerIndex + 1, as: UInt32.self) {
            bytes.moveReaderIndex(forwardBy: 5)
            let message = try Sidelight_V1_ServerMessage(
              serializedBytes: bytes.readBytes(length: Int(length)) ?? [])
            if case .accepted(let accepted)? = message.kind { requests.append(accepted.requestID) }
          }
          #expect(requests == Array(1 ... count))
        }
      }
    }
  }
}
