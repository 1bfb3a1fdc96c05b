import BenchmarkSupport

/// Overload with frames whose transport costs as much as their filters.
struct LargeFrames: Measurement {
  private static let sessions = 32
  /// The speed of the machine varies: every round measures all loads for a fraction of the time.
  private static let rounds = 3
  /// The frames that a session gets on average. With 60 of them, chance alone gave the session with
  /// the fewest 40 to 70 % of the mean.
  private static let framesPerSession = 400

  private struct Case: Sendable {
    var pipeline: Pipeline
    var picture: Picture
    var usesUnixSocket: Bool

    var name: String {
      "\(self.picture) \(self.pipeline.name), \(self.usesUnixSocket ? "Unix socket" : "TCP")"
    }
  }

  private struct Row {
    var factor: Double
    var outcome: Trial.Outcome

    /// The frames of the session with the fewest, as a fraction of the mean.
    var minServed: Double {
      let delivered = self.outcome.tallies.map(\.delivered)
      return Double(delivered.min() ?? 0) * Double(delivered.count)
        / Double(max(1, delivered.reduce(0, +)))
    }
  }

  func run(_ settings: Settings) async throws -> Section {
    var table = Table([
      "frames", "load", "offered fps", "goodput fps", "of peak", "p50 ms", "p95 ms",
      "least served", "drops by reason", "CPU", "sender's", "RSS MiB",
    ])
    var checks: [Check] = []
    for test in Self.cases(settings) {
      let (capacity, rows) = try await ServerProcess.run(settings) {
        try await Self.measure(test, settings, $0)
      }
      checks.append(.accounting(rows.map(\.outcome), test.name))
      let peak = max(capacity, rows.map(\.outcome.goodput).max() ?? 0)
      for row in rows {
        let (total, outcome) = (row.outcome.total, row.outcome)
        let fraction = outcome.goodput / peak
        table.add([
          test.name, "\(row.factor.text(1))x",
          (Double(total.frames) / (outcome.duration / .seconds(1))).text(0),
          outcome.goodput.text(0), fraction.percent, total.ages.percentile(50).milliseconds,
          total.ages.percentile(95).milliseconds, row.minServed.percent, total.reasons,
          outcome.server.processors.percent(0), outcome.sender.processors.percent(0),
          "\(outcome.server.peakMemory >> 20)",
        ])
        guard row.factor > 1 else { continue }
        checks.append(
          Check(
            "goodput at \(row.factor.text(0))x capacity, \(test.name)",
            measured: "\(fraction.percent) of the peak", limit: ">= 90 %", holds: fraction >= 0.9))
        checks.append(
          Check(
            "the session with the fewest frames at \(row.factor.text(0))x, \(test.name)",
            measured: "\(row.minServed.percent) of the mean", limit: ">= 75 %",
            holds: row.minServed >= 0.75))
      }
    }
    return Section(title: "Large frames", text: Self.text, table: table, checks: checks)
  }

  private static func measure(
    _ test: Case, _ settings: Settings, _ server: ServerProcess
  ) async throws -> (capacity: Double, rows: [Row]) {
    var capacities: [Double] = []
    var rows: [Row] = []
    for round in 0 ..< Self.rounds {
      let capacity = try await Trial.capacity(
        Load(pipeline: test.pipeline, picture: test.picture, pace: .never), sessions: Self.sessions,
        usesUnixSocket: test.usesUnixSocket, settings, server)
      capacities.append(capacity)
      let duration = settings.duration(
        for: Double(Self.sessions * Self.framesPerSession), perSecond: capacity)
      for (index, factor) in [1.0, 2, 4, 8].enumerated() {
        let rate = factor * (capacities[0]) / Double(Self.sessions)
        let load = Load(
          pipeline: test.pipeline, picture: test.picture, pace: .openLoop(framesPerSecond: rate))
        let trial = Trial(
          loads: Array(repeating: load, count: Self.sessions), warmUp: settings.warmUp,
          duration: duration / Self.rounds, usesUnixSocket: test.usesUnixSocket)
        let outcome = try await trial.run(against: server)
        Progress.report("\(test.name), \(factor)x, round \(round)", outcome)
        if round == 0 {
          rows.append(Row(factor: factor, outcome: outcome))
        } else {
          rows[index].outcome.add(outcome)
        }
      }
    }
    return (capacities.reduce(0, +) / Double(capacities.count), rows)
  }

  private static func cases(_ settings: Settings) -> [Case] {
    if settings.isQuick {
      return [
        Case(pipeline: .vintage, picture: .hd720, usesUnixSocket: false),
        Case(pipeline: .vintage, picture: .hd1080, usesUnixSocket: true),
      ]
    }
    let pictures: [Picture] = [.hd720, .hd1080]
    let pipelines: [Pipeline] = [.vintage, .blur]
    return pipelines.flatMap { pipeline in
      pictures.flatMap { picture in
        [false, true].map {
          Case(pipeline: pipeline, picture: picture, usesUnixSocket: $0)
        }
      }
    }
  }

  private static let text = """
    \(sessions) sessions send frames whose transport costs as much as their filters, open loop, at 1 \
    to 8 times the capacity, and wait for the server's credits, newest wins. Capacity is the rate at \
    which frames come back when each session sends as soon as its window has room, and nothing is \
    dropped. The peak is the highest of these rates, capacity included. All loads are measured in \
    \(rounds) rounds. "Least served" is the session with the fewest frames, relative to the mean.
    """
}
