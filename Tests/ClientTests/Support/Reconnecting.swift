import Foundation
import GRPCCore
import SidelightClient
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf

/// Helpers of tests in which sessions lose their server.
enum Reconnecting {
  static let key = ResumeKey(id: "a", secret: Data(repeating: 1, count: 32))

  static func configuration(_ keys: [ResumeKey] = [key]) -> ServerConfiguration {
    var configuration = ServerConfiguration()
    configuration.resumeKeys = keys
    return configuration
  }

  static func options(
    _ pipeline: Pipeline = [], dropPolicy: SessionOptions.DropPolicy = .newestWins,
    failOpen: ReconnectPolicy.FailOpen = .original, maxAttempts: Int? = nil
  ) -> SessionOptions {
    SessionOptions(
      pipeline: pipeline, dropPolicy: dropPolicy,
      reconnect: ReconnectPolicy(failOpen: failOpen, maxAttempts: maxAttempts))
  }

  /// The first wait with a random factor of one half.
  static let firstDelay = Duration.milliseconds(50)

  /// Two servers that share a key, for as long as `body` runs.
  static func withServers(
    _ first: RunningServer = RunningServer(configuration()),
    _ second: RunningServer = RunningServer(configuration()),
    _ body: @Sendable (RunningServer, RunningServer) async throws -> Void
  ) async throws {
    try await withThrowingDiscardingTaskGroup { group in
      group.addTask { await first.run() }
      group.addTask { await second.run() }
      do {
        try await body(first, second)
      } catch {
        await first.kill()
        await second.kill()
        throw error
      }
      await first.kill()
      await second.kill()
    }
  }

  /// The status with which `body` fails.
  static func status(_ body: () async throws -> Void) async -> RPCError? {
    do {
      try await body()
      return nil
    } catch {
      return error as? RPCError
    }
  }

  static func override(
    _ id: String, at address: Address, with pipeline: Pipeline
  ) async throws {
    try await withOperators(address) { operators in
      _ = try await operators.overrideSession(
        .with {
          $0.sessionID = id
          $0.pipeline = Sidelight_V1_Pipeline(pipeline)
          $0.timeToLive.seconds = 60
          $0.reason = "indecent"
        })
    }
  }
}
