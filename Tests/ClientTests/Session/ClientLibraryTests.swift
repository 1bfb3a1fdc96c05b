import GRPCCore
import SidelightClient
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// The client library against a real server.
@Suite(.timeLimit(.minutes(5))) struct ClientLibraryTests {
  @Test
  func `every frame of a sequence comes back, in order, with the metadata sent with it`()
    async throws
  {
    let pictures = try (1 ... 50).map { try picture(16, 16, seed: UInt64($0)) }
    let outcomes = try await Self.session(.init(dropPolicy: .neverDrop)) { session in
      async let sending: Void = session.send(
        contentsOf: AsyncStream { continuation in
          for (index, picture) in pictures.enumerated() {
            continuation.yield(
              VideoFrame(
                picture, captureTimeNanoseconds: Int64(index), rtpTimestamp: UInt32(index),
                tags: ["index": "\(index)"]))
          }
          continuation.finish()
        })
      var filtered: [FilteredFrame] = []
      for try await outcome in session.outcomes {
        if case .filtered(let frame) = outcome { filtered.append(frame) }
      }
      try await sending
      return filtered
    }
    #expect(outcomes.map(\.sequence) == Array(1 ... 50))
    #expect(outcomes.map(\.captureTimeNanoseconds) == Array(0 ..< 50))
    #expect(outcomes.map(\.rtpTimestamp) == Array(0 ..< 50))
    #expect(outcomes.map(\.tags) == (0 ..< 50).map { ["index": "\($0)"] })
    let isIdentical = outcomes.map(\.picture.bytes) == pictures.map(\.bytes)
    #expect(isIdentical, "with no pipeline the pictures are the ones that were sent")
  }

  @Test(
    arguments: [true, false])
  func
    `a frame that no stage changes comes back without its pixels, or with them where that is asked`(
      isAllowed: Bool
    ) async throws
  {
    let shot = try picture()
    let returned = try await Self.session(.init(allowUnmodified: isAllowed)) { session in
      await session.send(VideoFrame(shot))
      session.finish()
      var returned: [Frame] = []
      for try await outcome in session.outcomes {
        if let picture = outcome.picture?.frame { returned.append(picture) }
      }
      return returned
    }
    #expect(returned.map(\.bytes) == [shot.bytes])
    #expect(
      returned.map { $0.buffer === shot.buffer } == [isAllowed], "it is the one that was sent")
  }

  @Test
  func `a change in mid-call is reported before the first frame filtered with it`() async throws {
    let shot = try picture()
    let log = try await Self.session(.init(dropPolicy: .neverDrop)) { session in
      await session.send(VideoFrame(shot))
      let accepted = session.select([.filter("colorInvert")])
      await session.send(VideoFrame(shot))
      let refused = session.select([.filter("noSuchFilter")])
      await session.send(VideoFrame(shot))
      session.finish()
      var log: [String] = []
      for try await event in session.events {
        switch event {
        case .outcome(.filtered(let frame)):
          log.append("frame \(frame.sequence) r\(frame.revision)")
        case .outcome(.dropped(let frame)): log.append("dropped \(frame.sequence)")
        case .accepted(let change):
          #expect(change.requestID == accepted)
          #expect(change.revision == 2)
        case .applied(let change):
          log.append("applied \(change.revision) \(change.requestID == accepted)")
        case .rejected(let change):
          #expect(change.requestID == refused)
          #expect(change.cause == .invalid)
          #expect(change.message.contains("noSuchFilter"))
        case .finalCounts(let counts):
          log.append("received \(counts.received) filtered \(counts.filtered)")
        default: log.append("\(event)")
        }
      }
      return log
    }
    #expect(
      log == [
        "applied 1 false", "frame 1 r1", "applied 2 true", "frame 2 r2", "frame 3 r2",
        "received 3 filtered 2",
      ])
  }

  @Test
  func `a client that takes no outcomes gets no more than the window; newest wins among the rest`()
    async throws
  {
    let shot = try picture()
    let outcomes = try await Self.session(.init()) { session in
      for _ in 0 ..< 100 { await session.send(VideoFrame(shot)) }
      session.finish()
      var outcomes: [FrameOutcome] = []
      for try await outcome in session.outcomes { outcomes.append(outcome) }
      return outcomes
    }
    #expect(outcomes.map(\.sequence) == Array(1 ... 100), "each frame has one outcome, in order")
    let here = outcomes.filter {
      if case .dropped(let frame) = $0 { frame.reason == .supersededBeforeSending } else { false }
    }
    #expect(here.count >= 95, "four had credits, and the newest got the first that came back")
    guard case .filtered(let last)? = outcomes.last else {
      Issue.record("the newest frame was dropped")
      return
    }
    #expect(last.sequence == 100)
  }

  @Test func `a session that the server refuses throws before anything is sent`() async throws {
    let error = await #expect(throws: RPCError.self) {
      try await Self.session(.init(pipeline: [.filter("noSuchFilter")])) { _ in
        Issue.record("the session was opened")
      }
    }
    #expect(error?.code == .invalidArgument)
  }

  @Test func `without a listener the session throws UNAVAILABLE`() async throws {
    let error = await #expect(throws: RPCError.self) {
      try await SidelightClient.connect(to: .unix(path: "/nowhere/sidelight.sock")) { client in
        try await client.withSession { _ in }
      }
    }
    #expect(error?.code == .unavailable)
  }

  @Test func `a body that throws cuts its session off`() async throws {
    struct Stop: Error {}
    try await withServer { server, address in
      await #expect(throws: Stop.self) {
        try await SidelightClient.connect(to: address) { client in
          try await client.withSession { _ in throw Stop() }
        }
      }
      try await expectEventually("the session is over") { server.sessionCount == 0 }
    }
  }

  @Test func `a still is the same through the server and through a session`() async throws {
    let shot = try picture(40, 30)
    let pipeline: Pipeline = [.filter("sepiaTone"), .filter("gaussianBlur")]
    try await withServer { _, address in
      let streamed = try await SidelightClient.connect(to: address) { client in
        try await client.withSession(.init(pipeline: pipeline)) { session in
          await session.send(VideoFrame(shot))
          for try await outcome in session.outcomes {
            if case .filtered(let frame) = outcome { return frame.picture.bytes }
          }
          return []
        }
      }
      let applied = try await withStub(address) { stub in
        try await stub.apply(
          .with {
            $0.image = Sidelight_V1_Image(shot)
            $0.pipeline = Sidelight_V1_Pipeline(pipeline)
          }
        ).image.inline
      }
      let isIdentical = streamed == [UInt8](applied)
      #expect(isIdentical)
    }
  }

  static func session<Result: Sendable>(
    _ options: SessionOptions, _ body: @Sendable (FilterSession) async throws -> Result
  ) async throws -> Result {
    try await withServer { _, address in
      try await SidelightClient.connect(to: address) { client in
        try await client.withSession(options, body)
      }
    }
  }
}
