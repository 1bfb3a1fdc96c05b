import GRPCCore
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Load reports (ORCA) of a real server.
@Suite(.timeLimit(.minutes(5))) struct LoadReportTests {
  static func reports<Result: Sendable>(
    _ address: Address, every interval: Duration?,
    _ body:
      @escaping @Sendable (
        RPCAsyncSequence<Xds_Data_Orca_V3_OrcaLoadReport, any Error>
      ) async throws -> Result
  ) async throws -> Result {
    try await withConnection(address) { connection in
      try await Xds_Service_Orca_V3_OpenRcaService.Client(wrapping: connection)
        .streamCoreMetrics(
          .with {
            if let interval { $0.reportInterval = Google_Protobuf_Duration(rounding: interval) }
          }
        ) { try await body($0.messages) }
    }
  }

  @Test(
    arguments: [
      (nil, .seconds(1)), (.seconds(3), .seconds(3)), (.milliseconds(1), .milliseconds(250)),
      (.seconds(-5), .milliseconds(250)),
    ] as [(Duration?, Duration)])
  func `the load is sent at once and after each interval, which has a floor`(
    requested: Duration?, expected: Duration
  ) async throws {
    let clock = ManualClock()
    try await withServer(clock: clock.sessionClock) { _, address in
      try await Self.reports(address, every: requested) { reports in
        var reports = reports.makeAsyncIterator()
        for _ in 0 ..< 2 {
          let report = try #require(try await reports.next())
          #expect(report.applicationUtilization == 0.05)
          #expect(report.rpsFractional == 1000)
          await clock.awaited(within: expected)
          #expect(clock.isAwaited(in: expected))
          clock.advance(by: expected)
        }
      }
    }
  }

  @Test func `sessions that have just opened count`() async throws {
    let clock = ManualClock()
    try await withServer(clock: clock.sessionClock) { _, address in
      let opens: [Sidelight_V1_ClientMessage] = Array(repeating: .open(), count: 8)
      try await withStub(address) { stub in
        try await SessionListTests.withSessions(opens[...], stub) { _ in
          try await Self.reports(address, every: nil) { reports in
            for try await report in reports {
              #expect(report.applicationUtilization == 0.125)
              break
            }
          }
        }
      }
    }
  }

  @Test func `a shutdown ends the call with UNAVAILABLE`() async throws {
    let server = RunningServer()
    await withDiscardingTaskGroup { group in
      group.addTask { await server.run() }
      let error = await #expect(throws: RPCError.self) {
        try await Self.reports(try await server.address, every: nil) { reports in
          for try await _ in reports { server.drain() }
        }
      }
      #expect(error?.code == .unavailable)
    }
  }
}
