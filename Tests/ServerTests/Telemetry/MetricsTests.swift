import GRPCCore
import Metrics
import SidelightKernels
import SidelightServer
import SidelightTelemetry
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf
import Testing

/// Tests of the server's metrics, as Prometheus would read them.
@Suite(.timeLimit(.minutes(5))) struct MetricsTests {
  static let image = Sidelight_V1_Image.noise(.bgra8, 64, 48)

  /// The value of a series; `nil` if the series doesn't exist.
  static func value(_ series: String, in registry: PrometheusRegistry) -> Double? {
    registry.text.split(separator: "\n").first { $0.hasPrefix(series + " ") }
      .flatMap { Double($0.dropFirst(series.count + 1)) }
  }

  @Test func `frames are counted when their outcome is sent, and timed once`() async throws {
    let registry = PrometheusRegistry(descriptions: SidelightServer.metricDescriptions)
    let answers = try await withServer(metrics: registry) { server, address in
      let answers = try await withStub(address) { stub in
        try await stub.converseInTurn(
          .open([.filter("sepiaTone")]),
          (1 ... 5).map { .frame($0, Self.image) } + [.frame(6, Sidelight_V1_Image())])
      }
      server.updateMetrics()
      return answers
    }
    let counts = try #require(answers.finalStats)
    #expect(counts.filtered == 5)
    let frames = "sidelight_frames_total"
    #expect(Self.value("\(frames){outcome=\"filtered\",reason=\"none\"}", in: registry) == 5)
    #expect(Self.value("\(frames){outcome=\"passed_through\",reason=\"none\"}", in: registry) == 0)
    #expect(
      Self.value("\(frames){outcome=\"dropped\",reason=\"invalid_frame\"}", in: registry) == 1)
    let bytes = "sidelight_frame_bytes_total{direction="
    #expect(Self.value("\(bytes)\"in\"}", in: registry) == Double(counts.bytesIn))
    #expect(Self.value("\(bytes)\"out\"}", in: registry) == Double(counts.bytesOut))
    #expect(Self.value("sidelight_frame_queue_seconds_count", in: registry) == 5)
    #expect(Self.value("sidelight_pass_seconds_count{pass=\"sepiaTone\"}", in: registry) == 5)
    #expect(Self.value("sidelight_frame_seconds_count{outcome=\"filtered\"}", in: registry) == 5)
    #expect(Self.value("sidelight_frame_seconds_count{outcome=\"dropped\"}", in: registry) == 1)
    #expect(Self.value("sidelight_sessions_opened_total", in: registry) == 1)
    #expect(!registry.text.contains("No description"))
  }

  @Test func `repeated updates count nothing twice`() async throws {
    let registry = PrometheusRegistry()
    try await withServer(metrics: registry) { server, address in
      _ = try await withStub(address) { stub in
        try await stub.converse([.open(), .frame(1, Self.image)])
      }
      await withTaskGroup(of: Void.self) { group in
        for _ in 0 ..< 8 {
          group.addTask { for _ in 0 ..< 100 { server.updateMetrics() } }
        }
      }
    }
    let series = "sidelight_frames_total{outcome=\"passed_through\",reason=\"none\"}"
    #expect(Self.value(series, in: registry) == 1)
  }

  @Test func `a refused session is counted by the limit that it exceeded`() async throws {
    let registry = PrometheusRegistry()
    var configuration = ServerConfiguration()
    configuration.maxSessions = 1
    try await withServer(configuration, metrics: registry) { server, address in
      try await withStub(address) { stub in
        try await stub.process { writer in
          try await writer.write(.open())
          try await expectEventually("the session is open") { server.sessionCount == 1 }
          let error = await #expect(throws: RPCError.self) { try await stub.converse([.open()]) }
          #expect(error?.code == .resourceExhausted)
          server.updateMetrics()
          #expect(Self.value("sidelight_sessions", in: registry) == 1)
        } onResponse: { response in
          for try await _ in response.messages {}
        }
      }
    }
    let refused = "sidelight_sessions_refused_total{limit="
    #expect(Self.value("\(refused)\"max_sessions\"}", in: registry) == 1)
    #expect(Self.value("\(refused)\"max_load\"}", in: registry) == 0)
  }

  @Test func `the output age grows while a frame waits`() async throws {
    let registry = PrometheusRegistry()
    let clock = ManualClock()
    let gate = Gate()
    try await withServer(
      catalogue: gate.catalogue, metrics: registry, clock: clock.sessionClock
    ) { server, address in
      try await withStub(address) { stub in
        try await stub.process { writer in
          try await writer.write(.open([.filter("gate")]))
          try await writer.write(.frame(1, Self.image))
          for await _ in gate.entered { break }
          clock.advance(by: .seconds(1))
          server.updateMetrics()
          #expect(Self.value("sidelight_output_age_seconds", in: registry) == 1)
          #expect(Self.value("sidelight_frames_in_flight", in: registry) == 1)
          gate.open(for: 1)
        } onResponse: { response in
          for try await _ in response.messages {}
        }
      }
      server.updateMetrics()
      #expect(Self.value("sidelight_output_age_seconds", in: registry) == 0)
      #expect(Self.value("sidelight_frames_in_flight", in: registry) == 0)
    }
  }

  @Test func `the number of pass names is limited; further passes are counted as other`() {
    let registry = PrometheusRegistry(seriesLimit: 1000)
    let metrics = ServerMetrics(factory: registry)
    for number in 0 ..< 100 { metrics.recordPass("pass\(number)", .milliseconds(1)) }
    let counts = registry.text.split(separator: "\n").filter {
      $0.hasPrefix("sidelight_pass_seconds_count")
    }
    #expect(counts.count == 65)
    #expect(Self.value("sidelight_pass_seconds_count{pass=\"other\"}", in: registry) == 36)
  }

  @Test func `calls are timed by method and status`() async throws {
    let registry = PrometheusRegistry()
    try await withServer(metrics: registry) { _, address in
      try await withStub(address) { stub in
        _ = try await stub.listFilters(.init())
        await #expect(throws: RPCError.self) { _ = try await stub.describeFilter(.init()) }
        await #expect(throws: RPCError.self) { try await stub.converse([.frame(1, Self.image)]) }
      }
    }
    for (method, status) in [
      ("ListFilters", "OK"), ("DescribeFilter", "NOT_FOUND"), ("Process", "FAILED_PRECONDITION"),
    ] {
      let labels = "{method=\"sidelight.v1.FrameFilter/\(method)\",status=\"\(status)\"}"
      #expect(Self.value("sidelight_rpc_seconds_count\(labels)", in: registry) == 1)
    }
  }

  @Test func `a server accepts sessions only while it is serving`() async throws {
    var configuration = ServerConfiguration()
    configuration.addresses = [.tcp(host: "127.0.0.1", port: 0)]
    #expect(SidelightServer(configuration: configuration).phase == .starting)
    try await withServer { server, _ in
      try await expectEventually("it serves") { server.phase == .serving }
      #expect(server.status.sessions.isEmpty)
    }
  }
}
