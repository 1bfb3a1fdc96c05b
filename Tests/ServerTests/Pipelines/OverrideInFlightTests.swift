import GRPCCore
import GRPCNIOTransportHTTP2Posix
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// An operator's pipeline that overtakes frames wherever they are: in the outcome queue, in the
/// worker, in the mailbox. Every later picture is filtered using this pipeline only.
@Suite(.timeLimit(.minutes(5))) struct OverrideInFlightTests {
  struct Broken: Error {}

  static let gateAndInvert: Pipeline = [.filter("gate"), .filter("colorInvert")]
  static let unreliable: Pipeline = [.filter("unreliable"), .filter("sepiaTone")]
  /// The replacement for frames that may not be shown as they are.
  static let beyondRecognition: Pipeline = [
    .filter("pixellate", ["scale": .length(Length(0.125, .shortSide))]),
    .filter("gaussianBlur", ["radius": .length(Length(0.0625, .shortSide))]),
  ]

  /// `unreliable` throws for every second frame.
  static func catalogue(_ gate: Gate) -> FilterCatalogue {
    var catalogue = FilterCatalogue.builtIn
    catalogue.register(gate.filter)
    catalogue.register(
      CustomFilter(
        "unreliable", "Throws now and then.",
        frame: { input, output, time in
          if time.index.isMultiple(of: 2) { throw Broken() }
          copy(input, into: &output)
        }))
    return catalogue
  }

  static func image(_ sequence: UInt64) -> Sidelight_V1_Image {
    .noise(.rgb24, 48, 32, seed: sequence)
  }

  /// Frame 1 has gone out, 2 waits in the outcome queue, 3 is being filtered, 4 and 5 wait for the
  /// worker; then the override comes, and 6 to 9 after it.
  static func converse(
    _ stub: Stub, _ clock: ManualClock, _ gate: Gate,
    override: @escaping @Sendable () async throws -> Void
  ) async throws -> [Sidelight_V1_ServerMessage] {
    try await stub.converse { writer, pongs in
      var pongs = pongs.makeAsyncIterator()
      var entered = gate.entered.makeAsyncIterator()
      try await writer.write(
        .open(Self.gateAndInvert) {
          $0.outputWindow = 1
          $0.mailboxDepth = 4
          $0.failurePolicy = .passThrough
        })
      for sequence: UInt64 in 1 ... 5 {
        try await writer.write(.frame(sequence, Self.image(sequence)))
      }
      await entered.next()
      gate.open(for: 2)
      // The third frame enters when the second is filtered.
      await entered.next()
      await entered.next()
      try await writer.write(.with { $0.ping.id = 1 })
      await pongs.next()
      try await override()
      for sequence: UInt64 in 6 ... 9 {
        try await writer.write(.frame(sequence, Self.image(sequence)))
      }
      gate.open(for: 3)
      try await writer.write(.with { $0.ack.sequence = 1 })
    }
  }

  @Test
  func `under an override no earlier or mixed picture is sent, and a failed one is blurred`()
    async throws
  {
    let clock = ManualClock()
    let gate = Gate()
    var configuration = ServerConfiguration()
    configuration.framesInFlight = 16
    configuration.computeThreads = 2
    try await withServer(
      configuration, catalogue: Self.catalogue(gate), clock: clock.sessionClock
    ) { server, address in
      try await withStub(address) { stub in
        let answers = try await Self.converse(stub, clock, gate) {
          try await Self.override(address)
        }
        #expect(answers.frames.map(\.sequence) == [1, 6, 7, 8, 9])
        #expect(answers.frames.map(\.revision) == [1, 2, 2, 2, 2])
        #expect(answers.applied.map(\.revision) == [1, 2])
        #expect(answers.applied.map(\.firstSequence) == [1, 6])
        // The number of drops per notice depends on the writer's timing.
        let drops = answers.drops.flatMap { drop in
          (drop.firstSequence ... drop.lastSequence).map { ($0, drop.reason) }
        }
        #expect(drops.map(\.0) == [2, 3, 4, 5])
        #expect(drops.map(\.1) == [.outputSuperseded, .superseded, .superseded, .superseded])
        #expect(answers.finalStats?.outcomes == 9)
        // Pixel by pixel: a frame was filtered using a single pipeline, the one of its revision.
        for frame in answers.frames {
          let pipeline: Pipeline
          switch (frame.revision, frame.disposition) {
          case (1, .filtered): pipeline = [.filter("colorInvert")]
          case (2, .filtered): pipeline = [.filter("sepiaTone")]
          case (2, .degraded): pipeline = Self.beyondRecognition
          default:
            Issue.record("frame \(frame.sequence) is \(frame.disposition)")
            continue
          }
          let expected = try await stub.apply(
            .with {
              $0.image = Self.image(frame.sequence)
              $0.pipeline = Sidelight_V1_Pipeline(pipeline)
            })
          #expect(frame.image.inline == expected.image.inline, "frame \(frame.sequence)")
        }
        let failed = answers.frames.filter { $0.disposition == .degraded }
        #expect(failed.count == 2)
        #expect(failed.allSatisfy { $0.failure.message.contains("unreliable failed") })
      }
    }
  }

  private static func override(_ address: Address) async throws {
    guard case .tcp(let host, let port) = address else { return }
    try await withGRPCClient(
      transport: try .http2NIOPosix(
        target: .ipv4(address: host, port: port), transportSecurity: .plaintext)
    ) { client in
      let operators = Sidelight_V1_Sessions.Client(wrapping: client)
      let id = try await operators.listSessions(.init()).sessions.first?.sessionID ?? ""
      _ = try await operators.overrideSession(
        .with {
          $0.sessionID = id
          $0.pipeline = Sidelight_V1_Pipeline(Self.unreliable)
          $0.timeToLive.seconds = 10
        })
    }
  }
}
