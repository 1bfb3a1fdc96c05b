import BenchmarkSupport

/// The server at loads from half its capacity to ten times its capacity.
struct OverloadCurve: Measurement {
  static let sessions = 16
  static let budget = Duration.milliseconds(200)

  private struct Row {
    var factor: Double
    var honoursWindow: Bool
    var outcome: Trial.Outcome

    init(_ factor: Double, honoursWindow: Bool, _ outcome: Trial.Outcome) {
      self.factor = factor
      self.honoursWindow = honoursWindow
      self.outcome = outcome
    }

    /// The frames of the session with the fewest, as a fraction of the mean.
    var minServed: Double {
      let delivered = self.outcome.tallies.map(\.delivered)
      return Double(delivered.min() ?? 0) * Double(delivered.count)
        / Double(max(1, delivered.reduce(0, +)))
    }

    mutating func add(_ other: Row) {
      self.outcome.add(other.outcome)
    }
  }

  /// The number of rounds. The speed of the machine varies: every round measures all loads for a
  /// fraction of the time.
  private static let rounds = 3

  func run(_ settings: Settings) async throws -> Section {
    let factors =
      settings.isQuick ? [0.5, 1, 4, 10] : [0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 10]
    let (capacities, rows) = try await ServerProcess.run(settings) { server in
      var capacities: [Double] = []
      var rows: [Row] = []
      for round in 0 ..< Self.rounds {
        let capacity = try await Trial.capacity(
          Self.load(0), sessions: Self.sessions, settings, server)
        capacities.append(capacity)
        // With fewer frames per session, chance alone would look unfair.
        let duration = settings.duration(
          for: Double(Self.sessions * (settings.isQuick ? 24 : 40)), perSecond: capacity)
        for (index, kind) in Self.kinds(factors).enumerated() {
          var load = Self.load(kind.factor * capacity)
          load.honoursWindow = kind.honoursWindow
          let trial = Trial(
            loads: Array(repeating: load, count: Self.sessions), warmUp: settings.warmUp,
            duration: duration / Self.rounds)
          let outcome = try await trial.run(against: server)
          Progress.report(
            "overload \(kind.factor)x, window \(kind.honoursWindow), round \(round)", outcome)
          let row = Row(kind.factor, honoursWindow: kind.honoursWindow, outcome)
          if round == 0 { rows.append(row) } else { rows[index].add(row) }
        }
      }
      return (capacities, rows)
    }
    let capacity = capacities.reduce(0, +) / Double(capacities.count)
    return Section(
      title: "Overload", text: Self.text(capacities, settings), table: Self.table(rows),
      plots: ["overload": Self.plot(rows, capacity, factors)],
      checks: Self.checks(rows))
  }

  private static func kinds(_ factors: [Double]) -> [(factor: Double, honoursWindow: Bool)] {
    [true, false].flatMap { honoursWindow in factors.map { ($0, honoursWindow) } }
  }

  /// The load of one session, for a total rate of all sessions.
  static func load(_ framesPerSecond: Double) -> Load {
    Load(
      pipeline: .expensive, picture: .small,
      pace: .openLoop(framesPerSecond: framesPerSecond / Double(Self.sessions)),
      budget: Self.budget)
  }

  private static func text(_ capacities: [Double], _ settings: Settings) -> String {
    """
    \(Self.sessions) sessions send \(Picture.small.width)x\(Picture.small.height) frames through \
    `\(Pipeline.expensive.name)`: small frames and much work, so that processors are the bottleneck and \
    not the transport. Capacity is the rate at which frames come back when each session sends as soon \
    as its window has room, and nothing is dropped: \
    **\(capacities.map { $0.text(0) }.joined(separator: ", ")) frames a second** in the \(Self.rounds) \
    rounds. Each round measures all loads in turn, so that other work of the machine affects all of \
    them, after a warm-up; a load lasts so long that each session gets some \
    \(settings.isQuick ? 24 : 40) frames or more. Sessions send open loop, at 0.5 to 10 times the \
    capacity, with a budget of \(Self.budget / .milliseconds(1)) ms a frame, to one server process. \
    "Honoured" senders wait for \
    the server's credits, newest wins, as the client library does; "ignored" senders send as much as \
    the transport accepts. "fps a core" is goodput divided by the server's processor time: it tells \
    wasted work from processors that other programs used. "Least served" is the session with the \
    fewest frames of all rounds, relative to the mean.
    """
  }

  private static func table(_ rows: [Row]) -> Table {
    var table = Table([
      "window", "load", "offered fps", "goodput fps", "of peak", "fps a core", "p50 ms", "p99 ms",
      "least served", "drops", "by reason", "CPU", "sender's", "RSS MiB",
    ])
    for row in rows {
      let total = row.outcome.total
      table.add([
        row.honoursWindow ? "honoured" : "ignored", "\(row.factor.text(2))x",
        (Double(total.frames) / (row.outcome.duration / .seconds(1))).text(0),
        row.outcome.goodput.text(0), Self.fractionOfPeak(row, rows).percent,
        (row.outcome.goodput / row.outcome.server.processors).text(1),
        total.ages.percentile(50).milliseconds, total.ages.percentile(99).milliseconds,
        row.minServed.percent, total.droppedFraction.percent, total.reasons,
        row.outcome.server.processors.percent(0),
        row.outcome.sender.processors.percent(0), "\(row.outcome.server.peakMemory >> 20)",
      ])
    }
    return table
  }

  /// The goodput as a fraction of the highest one with senders of the same kind.
  private static func fractionOfPeak(_ row: Row, _ rows: [Row]) -> Double {
    let peak = rows.filter { $0.honoursWindow == row.honoursWindow }.map(\.outcome.goodput).max()
    return row.outcome.goodput / (peak ?? 1)
  }

  private static func checks(_ rows: [Row]) -> [Check] {
    var checks: [Check] = [.accounting(rows.map(\.outcome), "overload")]
    for row in rows where [4, 10].contains(row.factor) {
      let name =
        "\(row.factor.text(0))x capacity, window \(row.honoursWindow ? "honoured" : "ignored")"
      let part = Self.fractionOfPeak(row, rows)
      checks.append(
        Check(
          "goodput at \(name)", measured: "\(part.percent) of the peak", limit: ">= 90 %",
          holds: part >= 0.9))
      let least = row.minServed
      checks.append(
        Check(
          "the session with the fewest frames, at \(name)",
          measured: "\(least.percent) of the mean",
          limit: ">= 75 %", holds: least >= 0.75))
      let total = row.outcome.total
      let limit = Self.budget + total.work.percentile(99)
      checks.append(
        Check(
          "p99 age at \(name)", measured: "\(total.ages.percentile(99).milliseconds) ms",
          limit: "<= budget + one frame's work (p99) = \(limit.milliseconds) ms",
          holds: total.ages.percentile(99) <= limit))
    }
    // From 1x on, the number of buffers does not grow.
    let memory = rows.filter { $0.factor >= 1 }.map(\.outcome.server.peakMemory)
    let least = memory.min() ?? 0
    let most = memory.max() ?? 0
    checks.append(
      Check(
        "RSS from 1x to 10x", measured: "\(least >> 20) to \(most >> 20) MiB",
        limit: "flat: within 25 %", holds: Double(most) <= 1.25 * Double(least)))
    return checks
  }

  private static func plot(_ rows: [Row], _ capacity: Double, _ factors: [Double]) -> Plot {
    let x = Plot.Axis(
      label: "offered load, times capacity", range: 0.5 ... 10, ticks: [0.5, 1, 2, 4, 10],
      isLog: true)
    func points(_ honoursWindow: Bool, _ value: (Row) -> Double) -> [(Double, Double)] {
      rows.filter { $0.honoursWindow == honoursWindow }.map { ($0.factor, value($0)) }
    }
    func age(_ percent: Double) -> (Row) -> Double {
      { $0.outcome.total.ages.percentile(percent) / .milliseconds(1) }
    }
    let goodput = Plot.Panel(
      title: "Frames filtered, times capacity", x: x,
      y: Plot.Axis(
        range: 0 ... 1.25,
        ticks: [0, 0.25, 0.5, 0.75, 1, 1.25]),
      series: [
        .init(
          name: "window honoured", color: 0, points: points(true) { $0.outcome.goodput / capacity }),
        .init(
          name: "window ignored", color: 1, points: points(false) { $0.outcome.goodput / capacity }),
      ],
      references: [])
    let ages = Plot.Panel(
      title: "Age of filtered frames, ms", x: x,
      y: Plot.Axis(range: 0 ... 300, ticks: [0, 50, 100, 150, 200, 250, 300]),
      series: [
        .init(name: "window honoured", color: 0, points: points(true, age(50))),
        .init(name: "window ignored", color: 1, points: points(false, age(50))),
        .init(color: 0, isDashed: true, points: points(true, age(99))),
        .init(color: 1, isDashed: true, points: points(false, age(99))),
      ],
      references: [.init(name: "budget", value: Self.budget / .milliseconds(1))])
    return Plot(
      title: "Overload",
      subtitle: "\(Self.sessions) sessions, budget 200 ms; solid: p50, dashed: p99",
      panels: [goodput, ages])
  }
}
