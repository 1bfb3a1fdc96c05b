import GRPCCore
import GRPCProtobuf
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// A session over real HTTP/2, by a client that uses only generated code.
@Suite(.timeLimit(.minutes(5))) struct SessionTests {
  static let image = Sidelight_V1_Image.noise(.bgra8, 33, 17)

  @Test
  func `the first message is opened with the limits, the last the final counts, which sum up`()
    async throws
  {
    let answers = try await withServer { _, address in
      try await withStub(address) { stub in
        try await stub.converse(
          [.open([.filter("sepiaTone")])] + (1 ... 20).map { .frame($0, Self.image) })
      }
    }
    guard case .opened(let opened)? = answers.first?.kind else {
      Issue.record("the first message is not opened")
      return
    }
    #expect(!opened.sessionID.isEmpty)
    #expect(opened.framesInFlight == 4)
    #expect(opened.revision == 1)
    #expect(opened.limits.maxMessageBytes == 64 << 20)
    #expect(opened.limits.maxDimension == 16384)
    #expect(answers.frames.map(\.sequence) == Array(1 ... 20))
    let stats = try #require(answers.finalStats)
    #expect(stats.received == 20)
    #expect(stats.filtered == 20)
    #expect(stats.outcomes == 20)
  }

  @Test(
    arguments: [
      (0, .newestWins, 4), (1, .newestWins, 1), (16, .keepOldest, 16), (64, .newestWins, 16),
      (64, .neverDrop, 4),
    ] as [(UInt32, Sidelight_V1_DropPolicy, UInt32)])
  func `a client is granted the frames in flight that it asks for, within limits`(
    wish: UInt32, policy: Sidelight_V1_DropPolicy, grant: UInt32
  ) async throws {
    let answers = try await withServer { _, address in
      try await withStub(address) { stub in
        try await stub.converse([
          .open {
            $0.framesInFlight = wish
            $0.dropPolicy = policy
            $0.mailboxDepth = 64
          }
        ])
      }
    }
    guard case .opened(let opened)? = answers.first?.kind else {
      Issue.record("the first message is not opened")
      return
    }
    #expect(opened.framesInFlight == grant)
    #expect(opened.mailboxDepth == grant)
  }

  @Test(arguments: PixelFormat.allCases)
  func `without a pipeline the bytes are returned unchanged`(format: PixelFormat) async throws {
    let images = [(1, 1), (2, 2), (3, 5), (17, 1), (640, 360)].flatMap { width, height in
      [0, 13].map { Sidelight_V1_Image.noise(format, width, height, padding: $0) }
    }
    let answers = try await withServer { _, address in
      try await withStub(address) { stub in
        try await stub.converse(
          [.open()] + images.enumerated().map { .frame(UInt64($0.offset + 1), $0.element) })
      }
    }
    let isIdentical = answers.frames.map(\.image) == images
    #expect(isIdentical)
    #expect(answers.frames.allSatisfy { $0.disposition == .passedThrough && !$0.unmodified })
  }

  @Test func `a client that allows it gets unmodified frames without pixels`() async throws {
    let answers = try await withServer { _, address in
      try await withStub(address) { stub in
        try await stub.converse([.open { $0.allowUnmodified = true }, .frame(1, Self.image)])
      }
    }
    let frame = try #require(answers.frames.first)
    #expect(frame.unmodified)
    #expect(frame.image.pixels == nil)
    #expect(frame.image.width == 33)
  }

  @Test func `the metadata of a frame is returned unchanged`() async throws {
    let answers = try await withServer { _, address in
      try await withStub(address) { stub in
        var image = Self.image
        image.orientation.rotation = .rotation90
        image.orientation.mirrored = true
        return try await stub.converse([
          .open([.filter("sepiaTone")]),
          .frame(7, image) {
            $0.captureTimeNs = -5
            $0.rtpTimestamp = .max
            $0.tags = ["track": "camera"]
          },
        ])
      }
    }
    let frame = try #require(answers.frames.first)
    #expect(frame.sequence == 7)
    #expect(frame.captureTimeNs == -5)
    #expect(frame.rtpTimestamp == .max)
    #expect(frame.tags == ["track": "camera"])
    #expect(frame.image.orientation.rotation == .rotation90)
    #expect(frame.image.orientation.mirrored)
  }

  @Test
  func `a selection applies to the frames sent after it, and applied names the first`() async throws
  {
    let answers = try await withServer { _, address in
      try await withStub(address) { stub in
        try await stub.converse([
          .open(), .frame(1, Self.image), .frame(2, Self.image),
          .select([.filter("sepiaTone")], requestID: 77),
          .frame(3, Self.image), .select([]), .select([.filter("colorInvert")], requestID: 78),
          .frame(4, Self.image),
        ])
      }
    }
    #expect(answers.frames.map(\.revision) == [1, 1, 2, 4])
    #expect(answers.applied.map(\.revision) == [1, 2, 4])
    #expect(answers.applied.map(\.firstSequence) == [1, 3, 4])
    #expect(answers.applied.map(\.requestID) == [0, 77, 78])
    let inverted = try #require(answers.frames.last).image.inline
    let expected = Self.image.inline.enumerated().map {
      $0.offset % 4 == 3 ? $0.element : ~$0.element
    }
    let isInverted = Array(inverted) == expected
    #expect(isInverted, "every colour byte is its complement, alpha is kept")
  }

  @Test func `a refused select names the field, and the old pipeline stays active`() async throws {
    let answers = try await withServer { _, address in
      try await withStub(address) { stub in
        try await stub.converse([
          .open([.filter("colorInvert")]),
          .select([.filter("sepiaTon")], requestID: 1),
          .select([.filter("sepiaTone", ["intensity": .number(.nan)])], requestID: 2),
          .select(
            Pipeline(stages: Array(repeating: .filter("sepiaTone"), count: 65)), requestID: 3),
          .frame(1, Self.image),
        ])
      }
    }
    #expect(answers.errors.map(\.requestID) == [1, 2, 3])
    let messages = answers.errors.map(\.status.message)
    #expect(messages[0].contains("select.pipeline.stages[0]"))
    #expect(messages[0].contains("sepiaTone"), "the nearest name is suggested")
    #expect(messages[1].contains("intensity"))
    #expect(messages[2].contains("64"), "the limit is named")
    #expect(answers.errors.allSatisfy { !$0.status.details.isEmpty })
    #expect(answers.frames.map(\.revision) == [1])
  }

  @Test func `a select with another if_revision is refused`() async throws {
    let answers = try await withServer { _, address in
      try await withStub(address) { stub in
        try await stub.converse([
          .open(),
          .with {
            $0.select.ifRevision = 9
            $0.select.requestID = 1
          },
          .with {
            $0.select.ifRevision = 1
            $0.select.requestID = 2
          },
          .frame(1, Self.image),
        ])
      }
    }
    #expect(answers.errors.map(\.requestID) == [1])
    #expect(answers.errors.first?.status.code == Int32(RPCError.Code.aborted.rawValue))
    #expect(answers.frames.map(\.revision) == [2])
  }

  static let violations: [(String, [Sidelight_V1_ClientMessage], RPCError.Code)] = [
    ("a frame before open", [.frame(1, image)], .failedPrecondition),
    ("nothing at all", [], .failedPrecondition),
    ("a second open", [.open(), .open()], .failedPrecondition),
    ("a message of no kind", [.open(), .init()], .invalidArgument),
    ("an unknown filter in open", [.open([.filter("nope")])], .invalidArgument),
    (
      "a label of 129 bytes", [.open { $0.label = String(repeating: "x", count: 129) }],
      .invalidArgument
    ),
    ("an unknown drop policy", [.open(policy: .UNRECOGNIZED(9))], .invalidArgument),
    ("an interval that is too short", [.open { $0.statsInterval.nanos = 1 }], .invalidArgument),
    ("PNG files, which are for stills", [.open { $0.output.format = .png }], .invalidArgument),
  ]

  @Test(arguments: violations)
  func `protocol violations end the call with a status`(
    name: String, messages: [Sidelight_V1_ClientMessage], code: RPCError.Code
  ) async throws {
    try await withServer { _, address in
      try await withStub(address) { stub in
        let error = await #expect(throws: RPCError.self) { try await stub.converse(messages) }
        #expect(error?.code == code)
      }
    }
  }

  @Test
  func `messages of a kind that this server does not know are ignored, and counted`() async throws {
    let unknown = try Sidelight_V1_ClientMessage(serializedBytes: [0xFA, 0x07, 0x00] as [UInt8])
    let answers = try await withServer { _, address in
      try await withStub(address) { stub in
        try await stub.converse([.open(), unknown, .frame(1, Self.image)])
      }
    }
    #expect(answers.finalStats?.ignoredMessages == 1)
    #expect(answers.frames.count == 1)
  }

  @Test func `a ping is answered with the times of both clocks`() async throws {
    let answers = try await withServer { _, address in
      try await withStub(address) { stub in
        try await stub.converse([
          .open(),
          .with {
            $0.ping.id = 3
            $0.ping.clientTimeNs = 42
          },
        ])
      }
    }
    let pong = answers.compactMap { if case .pong(let pong)? = $0.kind { pong } else { nil } }.first
    #expect(pong?.id == 3)
    #expect(pong?.clientTimeNs == 42)
    #expect(try #require(pong).serverReceivedNs > 1_600_000_000_000_000_000)
    #expect(try #require(pong).serverSentNs >= #require(pong).serverReceivedNs)
  }

  @Test func `a pipeline whose results exceed the limits fails the frame`() async throws {
    let answers = try await withServer { _, address in
      try await withStub(address) { stub in
        try await stub.converse([
          .open([
            .filter(
              "scale",
              ["width": .number(8000), "height": .number(8000), "mode": .text("stretch")])
          ]) {
            $0.failurePolicy = .drop
          },
          .frame(1, Self.image),
        ])
      }
    }
    #expect(answers.drops.map(\.reason) == [.stageFailed])
    #expect(answers.drops.first?.diagnostic.message.contains("36000000") == true)
  }

  @Test func `counts are sent at the requested interval, and always sum up`() async throws {
    let clock = ManualClock()
    try await withServer(clock: clock.sessionClock) { _, address in
      try await withStub(address) { stub in
        let (received, continuation) = AsyncStream<Void>.makeStream()
        try await stub.process { writer in
          try await writer.write(.open { $0.statsInterval.nanos = 100_000_000 })
          for sequence: UInt64 in 1 ... 5 { try await writer.write(.frame(sequence, Self.image)) }
          var receivedEvents = received.makeAsyncIterator()
          for _ in 1 ... 3 {
            await clock.awaited(within: .milliseconds(100))
            clock.advance(by: .milliseconds(100))
            await receivedEvents.next()
          }
        } onResponse: { response in
          var periodic = 0
          for try await message in response.messages {
            guard case .stats(let stats)? = message.kind else { continue }
            #expect(stats.received == stats.outcomes + UInt64(stats.inFlight))
            if stats.final {
              #expect(stats.outcomes == 5)
            } else {
              periodic += 1
              continuation.yield()
            }
          }
          #expect(periodic == 3)
        }
      }
    }
  }

  @Test func `sessions beyond the limit are refused until others end`() async throws {
    var configuration = ServerConfiguration()
    configuration.maxSessions = 1
    try await withServer(configuration) { server, address in
      try await withStub(address) { stub in
        for _ in 0 ..< 3 { _ = try await stub.converse([.open()]) }
        let refused = AsyncStream<Never>.makeStream()
        try await stub.process { writer in
          try await writer.write(.open())
          // The session is open until the answer to its opening has been used.
          for await _ in refused.stream {}
        } onResponse: { response in
          for try await _ in response.messages.prefix(1) {
            let error = await #expect(throws: RPCError.self) { try await stub.converse([.open()]) }
            #expect(error?.code == .resourceExhausted)
            #expect(error?.message.contains("max_sessions") == true)
          }
          refused.continuation.finish()
        }
      }
    }
  }

  @Test(
    arguments: ["max_sessions_per_caller", "max_load"])
  func `the sessions of a caller and the load are limited; refusals state when to retry`(
    name: String
  ) async throws {
    var configuration = ServerConfiguration()
    if name == "max_load" {
      configuration.maxLoad = 0
    } else {
      configuration.quotas.sessions = 0
    }
    try await withServer(configuration) { server, address in
      try await withStub(address) { stub in
        let error = await #expect(throws: RPCError.self) { try await stub.converse([.open()]) }
        #expect(error?.code == .resourceExhausted)
        #expect(error?.message.contains(name) == true)
        let status = try error?.unpackGoogleRPCStatus()
        #expect(status?.details.contains { $0.retryInfo != nil } == true)
        #expect(status?.details.contains { $0.quotaFailure != nil } == true)
        #expect(server.sessionCount == 0)
      }
    }
  }

  @Test func `the server's counts are the sum over open and closed sessions`() async throws {
    try await withServer { _, address in
      try await withStub(address) { stub in
        var expected: (filtered: UInt64, passed: UInt64, invalid: UInt64) = (0, 0, 0)
        for number: UInt64 in 1 ... 3 {
          let pipeline: Pipeline = number == 2 ? [] : [.filter("colorInvert")]
          let answers = try await stub.converse(
            [.open(pipeline)] + (1 ... number).map { .frame($0, Self.image) }
              + [.frame(99, Sidelight_V1_Image())])
          let stats = try #require(answers.finalStats)
          expected.filtered += stats.filtered
          expected.passed += stats.passedThrough
          expected.invalid += stats.dropped.first?.count ?? 0
        }
        let frames = try await stub.getServerInfo(.init()).load.frames
        #expect(frames.received == 9)
        #expect(frames.received == frames.outcomes)
        #expect(frames.filtered == expected.filtered)
        #expect(frames.passedThrough == expected.passed)
        #expect(frames.dropped.map(\.reason) == [.invalidFrame])
        #expect(frames.dropped.first?.count == expected.invalid)
      }
    }
  }
}
