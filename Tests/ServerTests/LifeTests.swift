import GRPCCore
import SidelightKernels
import SidelightServer
import SidelightWire
import SwiftProtobuf
import Testing

/// Clients that go in mid-frame. What they held is given back within a second, and the next client
/// finds a server as it was. (`Tests/Python` has the one whose process is killed.)
@Suite(.timeLimit(.minutes(5)), .serialized) struct LifeTests {
  enum Departure: CaseIterable {
    /// The task that made the call is cancelled.
    case cancel
    /// The side that sends fails, which resets the stream.
    case reset
    /// The side that reads fails.
    case lostInterest
    /// The call comes to its deadline.
    case deadline
  }

  struct Departed: Error {}

  /// Passes enough for a frame to be met in the midst of them, and for a second to be too short for
  /// all frames that are sent.
  static let longPipeline = Pipeline(
    stages: (0 ..< 64).map { .filter("gaussianBlur", ["radius": .number(4 + Double($0) / 8)]) })
  static let image = Sidelight_V1_Image.noise(.rgb24, 960, 540)

  static var configuration: ServerConfiguration {
    var configuration = ServerConfiguration()
    configuration.framesInFlight = 16
    return configuration
  }

  /// Opens a session whose frames take long, and sends some.
  static func begin(_ writer: RPCWriter<Sidelight_V1_ClientMessage>) async throws {
    try await writer.write(.open(Self.longPipeline) { $0.mailboxDepth = 16 })
    for sequence: UInt64 in 1 ... 8 { try await writer.write(.frame(sequence, Self.image)) }
  }

  static func expectNothingLeft(
    in server: SidelightServer, within limit: Duration = .seconds(1)
  ) async throws {
    try await expectEventually("the session and its frames are gone", within: limit) {
      server.sessionCount == 0 && server.poolStatistics.bytesInUse == 0
    }
  }

  static func expectService(of stub: Stub) async throws {
    let answers = try await stub.converse([
      .open([.filter("colorInvert")]), .frame(1, .noise(.bgra8, 8, 8)),
    ])
    #expect(answers.finalStats?.filtered == 1)
  }

  @Test("A client that goes in mid-frame leaves nothing behind", arguments: Departure.allCases)
  func departures(_ departure: Departure) async throws {
    try await withServer(Self.configuration) { server, address in
      try await withStub(address) { stub in
        let departing = AsyncStream<Never>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask {
            try? await Self.call(stub, departure, when: departing.stream)
          }
          try await expectEventually("a frame is being filtered") {
            server.poolStatistics.bytesInUse > 0
          }
          #expect(server.sessionCount == 1)
          if departure == .cancel { group.cancelAll() }
          departing.continuation.finish()
          // The deadline is a second after the call's begin.
          try await Self.expectNothingLeft(
            in: server, within: departure == .deadline ? .seconds(2) : .seconds(1))
        }
        try await Self.expectService(of: stub)
      }
    }
  }

  private static func call(
    _ stub: Stub, _ departure: Departure, when departing: AsyncStream<Never>
  ) async throws {
    var options = largeMessages
    if departure == .deadline { options.timeout = .seconds(1) }
    try await stub.process(options: options) { writer in
      try await Self.begin(writer)
      if departure == .reset {
        for await _ in departing {}
        throw Departed()
      }
      // The client's side stays open.
      for await _ in AsyncStream<Never>.makeStream().stream {}
    } onResponse: { response in
      if departure == .lostInterest {
        for await _ in departing {}
        throw Departed()
      }
      for try await _ in response.messages {}
    }
  }

  @Test("A client that closes its side in mid-frame gets every outcome, and leaves nothing behind")
  func halfClose() async throws {
    try await withServer(Self.configuration) { server, address in
      try await withStub(address) { stub in
        let answers = try await stub.converse(
          [.open([.filter("gaussianBlur")])] + (1 ... 8).map { .frame($0, Self.image) })
        #expect(answers.frames.map(\.sequence) == Array(1 ... 8))
        #expect(answers.finalStats?.outcomes == 8)
        try await Self.expectNothingLeft(in: server)
        try await Self.expectService(of: stub)
      }
    }
  }

  @Test("A client that closes its side with its window shut still gets every outcome")
  func halfCloseWithShutWindow() async throws {
    try await withServer(Self.configuration) { server, address in
      try await withStub(address) { stub in
        for policy: Sidelight_V1_DropPolicy in [.neverDrop, .keepOldest] {
          let answers = try await stub.converse(
            [
              .open([.filter("colorInvert")], policy: policy) {
                $0.outputWindow = 1
                $0.mailboxDepth = 8
              }
            ] + (1 ... 8).map { .frame($0, .noise(.gray8, 4, 4)) })
          #expect(answers.frames.map(\.sequence) == Array(1 ... 8))
        }
        try await Self.expectNothingLeft(in: server)
      }
    }
  }

  @Test("A client that keeps to its credit and its window is never held back from acknowledging")
  func acknowledgementsBehindFrames() async throws {
    let image = Sidelight_V1_Image.noise(.gray8, 4, 4)
    try await withServer(Self.configuration) { _, address in
      try await withStub(address) { stub in
        for policy: Sidelight_V1_DropPolicy in [.newestWins, .keepOldest, .neverDrop] {
          let acknowledged = AsyncStream<UInt64>.makeStream()
          let answers = Answers()
          try await stub.process { writer in
            try await writer.write(.open(policy: policy) { $0.outputWindow = 1 })
            // All the credit at once; whatever is acknowledged comes behind them.
            for sequence: UInt64 in 1 ... 16 {
              try await writer.write(.frame(sequence, image) { $0.mustProcess = true })
            }
            for await sequence in acknowledged.stream {
              try await writer.write(.with { $0.ack.sequence = sequence })
            }
          } onResponse: { response in
            for try await message in response.messages {
              answers.add(message)
              guard case .frame(let frame)? = message.kind else { continue }
              acknowledged.continuation.yield(frame.sequence)
              if frame.sequence == 16 { acknowledged.continuation.finish() }
            }
          }
          #expect(answers.messages.frames.map(\.sequence) == Array(1 ... 16), "\(policy)")
        }
      }
    }
  }
}
