import GRPCCore
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Frames that arrive faster than they are filtered. A gate holds the pipeline, which makes the
/// tests independent of the machine's speed.
@Suite(.timeLimit(.minutes(5))) struct OverloadTests {
  static let image = Sidelight_V1_Image.noise(.bgra8, 8, 8)

  /// Sends frame 1, and frames 2 to 10 while it is being filtered; releases all when the server has
  /// read them. Returns the server's messages.
  static func flood(
    _ policy: Sidelight_V1_DropPolicy, mailboxDepth: UInt32 = 0
  ) async throws -> [Sidelight_V1_ServerMessage] {
    let gate = Gate()
    var configuration = ServerConfiguration()
    configuration.framesInFlight = 16
    return try await withServer(configuration, catalogue: gate.catalogue) { _, address in
      try await withStub(address) { stub in
        try await stub.converse { writer, pongs in
          try await writer.write(
            .open([.filter("gate")], policy: policy) { $0.mailboxDepth = mailboxDepth })
          try await writer.write(.frame(1, Self.image))
          for await _ in gate.entered { break }
          for sequence: UInt64 in 2 ... 10 { try await writer.write(.frame(sequence, Self.image)) }
          try await writer.write(.with { $0.ping.id = 1 })
          if policy == .neverDrop { gate.open(for: 10) }
          for await _ in pongs { break }
          gate.open(for: 10)
        }
      }
    }
  }

  @Test()
  func
    `with newest wins the newest frame is filtered next, the others are superseded in one run`()
    async throws
  {
    let answers = try await Self.flood(.newestWins)
    #expect(answers.frames.map(\.sequence) == [1, 10])
    let drop = try #require(answers.dropRuns.first)
    #expect(answers.dropRuns.count == 1)
    #expect(drop.firstSequence == 2)
    #expect(drop.lastSequence == 9)
    #expect(drop.count == 8)
    #expect(drop.reason == .superseded)
    #expect(drop.stage == .mailbox)
    #expect(answers.finalStats?.outcomes == 10)
  }

  @Test func `a deeper mailbox keeps as many of the newest`() async throws {
    let answers = try await Self.flood(.newestWins, mailboxDepth: 3)
    #expect(answers.frames.map(\.sequence) == [1, 8, 9, 10])
    #expect(answers.dropRuns.map(\.count) == [6])
  }

  @Test
  func `with keep oldest frames beyond the mailbox's depth are dropped with QUEUE_FULL`()
    async throws
  {
    let answers = try await Self.flood(.keepOldest)
    #expect(answers.frames.map(\.sequence) == [1, 2])
    #expect(answers.dropRuns.map(\.reason) == [.queueFull])
    #expect(answers.dropRuns.map(\.count) == [8])
    #expect(answers.finalStats?.outcomes == 10)
  }

  @Test
  func `with never drop the sender gets back-pressure, and every frame is filtered`() async throws {
    let answers = try await Self.flood(.neverDrop)
    #expect(answers.frames.map(\.sequence) == Array(1 ... 10))
    #expect(answers.drops.isEmpty)
  }

  struct Broken: Error, CustomStringConvertible {
    var description: String { "the filter is broken" }
  }

  static var brokenCatalogue: FilterCatalogue {
    var catalogue = FilterCatalogue()
    catalogue.register(CustomFilter("broken", "Throws.", frame: { _, _, _ in throw Broken() }))
    return catalogue
  }

  @Test func `a stage that fails returns the original, with the failure`() async throws {
    let answers = try await withServer(catalogue: Self.brokenCatalogue) { _, address in
      try await withStub(address) { stub in
        try await stub.converse([.open([.filter("broken")]), .frame(1, Self.image)])
      }
    }
    let frame = try #require(answers.frames.first)
    #expect(frame.disposition == .passedThrough)
    #expect(frame.image == Self.image)
    #expect(frame.failure.message.contains("the filter is broken"))
    #expect(answers.finalStats?.passedThrough == 1)
  }

  @Test
  func `with the policy drop a stage that fails drops the frame, and the session continues`()
    async throws
  {
    let answers = try await withServer(catalogue: Self.brokenCatalogue) { _, address in
      try await withStub(address) { stub in
        try await stub.converse([
          .open([.filter("broken")]) { $0.failurePolicy = .drop }, .frame(1, Self.image),
          .select([]), .frame(2, Self.image),
        ])
      }
    }
    #expect(answers.dropRuns.map(\.reason) == [.stageFailed])
    #expect(answers.drops.map(\.stage) == [.pipeline])
    #expect(answers.drops.first?.diagnostic.message.contains("the filter is broken") == true)
    #expect(answers.frames.map(\.sequence) == [2])
  }
}
