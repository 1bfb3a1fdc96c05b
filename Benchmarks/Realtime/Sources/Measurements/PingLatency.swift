/// How soon pings are answered while all processors are at work.
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
    try await ServerProcess.run(settings.server) { server in
      let capacity = try await OverloadCurve.capacity(settings, server)
      for test in Self.cases(capacity) {
        // A session that only pings comes last.
        let trial = Trial(
          loads: test.loads + [Load(pace: .never, pingsPerSecond: 100)], warmUp: settings.warmUp,
          duration: settings.duration * 2)
        let outcome = try await trial.run(against: server)
        Progress.note("pings: \(test.name)", outcome)
        checks.append(.accounting([outcome], "ping, \(test.name)"))
        let between = outcome.tallies.dropLast().flatMap(\.pings)
        for (kind, times) in [
          ("on a session of their own", outcome.tallies.last?.pings ?? []),
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
    From when a ping was due until its pong had arrived. Both loads ask for more than the processors \
    have: small frames with much work at twice the capacity; and 720p through \
    `\(Pipeline.blur.name)`, each session sending as soon as its window has room, where a ping between \
    frames stands in line behind the frame before it, and its pong behind the output before that.
    """

  private static func cases(_ capacity: Double) -> [Case] {
    var small = OverloadCurve.load(2 * capacity)
    small.pingsPerSecond = 10
    let large = Load(pipeline: .blur, picture: .hd720, pace: .closedLoop, pingsPerSecond: 10)
    return [
      Case(name: "idle", loads: []),
      Case(
        name: "small frames at 2x", loads: Array(repeating: small, count: OverloadCurve.sessions)),
      Case(name: "720p, closed loop", loads: Array(repeating: large, count: 8)),
    ]
  }
}
