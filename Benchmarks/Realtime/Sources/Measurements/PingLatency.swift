import BenchmarkSupport

/// The time to answer pings while all processors are busy.
struct PingLatency: Measurement {
  private struct Case {
    var name: String
    var loads: [Load]
  }

  func run(_ settings: Settings) async throws -> Section {
    var table = Table([
      "load", "server CPU", "sender's", "pings", "count", "p50 ms", "p95 ms", "p99 ms", "max ms",
    ])
    var checks: [Check] = []
    try await ServerProcess.run(settings) { server in
      for test in try await Self.cases(settings, server) {
        // The last session only pings. The slowest hundredth is of at least ten pings.
        let trial = Trial(
          loads: test.loads + [Load(pace: .never, pingsPerSecond: 100)], warmUp: settings.warmUp,
          duration: settings.duration(for: settings.isQuick ? 1000 : 2000, perSecond: 100))
        let pinger = try PingProcess(
          port: server.port, warmUp: settings.warmUp, duration: trial.duration)
        let outcome = try await trial.run(against: server)
        Progress.report("pings: \(test.name)", outcome)
        checks.append(.accounting([outcome], "ping, \(test.name)"))
        let between = outcome.tallies.dropLast().flatMap(\.pings)
        for (kind, times) in [
          ("from a separate process", try pinger.times()),
          ("on a separate session", outcome.tallies.last?.pings ?? []),
          ("between frames", between),
        ] where !times.isEmpty {
          table.add([
            test.name, outcome.server.processors.percent(0), outcome.sender.processors.percent(0),
            kind, "\(times.count)", times.percentile(50).milliseconds,
            times.percentile(95).milliseconds, times.percentile(99).milliseconds,
            times.percentile(100).milliseconds,
          ])
          guard !test.loads.isEmpty else { continue }
          checks.append(
            Check(
              "p99 of pings \(kind), \(test.name)",
              measured: "\(times.percentile(99).milliseconds) ms", limit: "< 5 ms",
              holds: times.percentile(99) < .milliseconds(5)))
        }
      }
    }
    return Section(title: "Pings", text: Self.text, table: table, checks: checks)
  }

  private static let text = """
    The time from when a ping was due until its pong arrived: from a separate process, as for another \
    caller; on a separate session of the process that sends the frames, whose threads are busy; and \
    between the frames of a session. Both loads are 1.5 times the capacity, which was measured first: \
    \(OverloadCurve.sessions) sessions with small frames and much work, as in the overload curve; and \
    \(largeSessions) sessions with 720p through `\(Pipeline.blur.name)`, where a ping between frames \
    waits behind the previous frame, and its pong behind an output.
    """

  private static let largeSessions = 8
  private static let overload = 1.5

  private static func cases(
    _ settings: Settings, _ server: ServerProcess
  ) async throws -> [Case] {
    let small = try await Self.overloaded(
      OverloadCurve.load(0), sessions: OverloadCurve.sessions, settings, server)
    let large = try await Self.overloaded(
      Load(pipeline: .blur, picture: .hd720, pace: .never), sessions: Self.largeSessions, settings,
      server)
    return [
      Case(name: "none", loads: []), Case(name: "small frames, much work", loads: small),
      Case(name: "720p blur", loads: large),
    ]
  }

  private static func overloaded(
    _ load: Load, sessions: Int, _ settings: Settings, _ server: ServerProcess
  ) async throws -> [Load] {
    let capacity = try await Trial.capacity(load, sessions: sessions, settings, server)
    var load = load
    load.pace = .openLoop(framesPerSecond: Self.overload * capacity / Double(sessions))
    load.pingsPerSecond = 20
    return Array(repeating: load, count: sessions)
  }
}
