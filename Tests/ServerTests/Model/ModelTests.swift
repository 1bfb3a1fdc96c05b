import Foundation
import SidelightServer
import SidelightTestSupport
import SidelightWire
import Testing

/// Random clients against a real server over real HTTP/2: ``ModelScriptWriter`` writes the actions
/// of a client, ``SessionDriver`` performs them, ``SessionModel`` checks the messages that it
/// receives.
///
/// `SIDELIGHT_MODEL_FRAMES` is the number of frames (default: 100,000); `SIDELIGHT_MODEL_SEED`
/// plays only the session of that seed.
@Suite(.timeLimit(.minutes(30))) struct ModelTests {
  /// The number of sessions that are open at the same time.
  private static let clients = 8
  /// The number of sessions that use a connection in sequence.
  private static let sessionsPerConnection = 12

  private static func environment(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
  }

  private static var configuration: ServerConfiguration {
    var configuration = ServerConfiguration.withSharedMemory()
    configuration.framesInFlight = 6
    // A busy machine must not lead to refused sessions or filter timeouts.
    configuration.maxLoad = nil
    configuration.customFilterTimeout = .seconds(60)
    return configuration
  }

  @Test func `random client behaviour never violates the guarantees of the stream`() async throws {
    let repeated = Self.environment("SIDELIGHT_MODEL_SEED")
    let first = repeated ?? UInt64.random(in: 0 ..< 1 << 40)
    let frames = repeated == nil ? Self.environment("SIDELIGHT_MODEL_FRAMES") ?? 100_000 : 1
    let queue = ModelScriptQueue(from: first, frames: Int(frames))
    let tally = ModelTally()
    try await withServer(Self.configuration, catalogue: .model) { server, address in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0 ..< (repeated == nil ? Self.clients : 1) {
          group.addTask { try await Self.play(queue, to: address, tally) }
        }
        while try await group.next() != nil {}
      }
      if frames >= 100_000 {
        #expect(tally.seen.isSuperset(of: ModelTally.expected), "\(tally.summary)")
        print("model: \(tally.summary)")
      }
      try await expectEventually("no session is left, and no buffer is in use") {
        server.sessionCount == 0 && server.poolStatistics.bytesInUse == 0
          && server.ringBytes == 0
      }
    }
  }

  /// Plays sessions sequentially.
  private static func play(
    _ queue: ModelScriptQueue, to address: Address, _ tally: ModelTally
  ) async throws {
    var script = queue.next()
    while script != nil {
      try await withStub(address, transport: Self.clientTransport) { stub in
        for _ in 0 ..< Self.sessionsPerConnection {
          guard let current = script else { return }
          do {
            tally.add(
              try await SessionDriver(current, for: Self.configuration).play(to: stub))
          } catch {
            queue.stop()
            Issue.record(
              """
              \(error)
              The session was to end by \(current.ending).
              To see it again: SIDELIGHT_MODEL_SEED=\(current.seed)
              """)
          }
          script = queue.next()
        }
      }
    }
  }

  /// A window that a few pictures fill, which lets a paused reader cause back-pressure.
  private static var clientTransport: TransportConfiguration {
    var transport = TransportConfiguration()
    transport.streamWindowBytes = 1 << 16
    return transport
  }
}
