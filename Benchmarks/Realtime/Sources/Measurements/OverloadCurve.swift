import BenchmarkSupport

/// From half of what the server can do to ten times that.
struct OverloadCurve: Measurement {
  static let sessions = 16
  static let budget = Duration.milliseconds(200)

  private struct Row {
    var factor: Double
    var honoursWindow: Bool
    var outcome: Trial.Outcome
    /// The frames of the session that got fewest, as a part of those of a session on average, in the round
    /// in which that is least.
    var leastServed: Double

    init(_ factor: Double, honoursWindow: Bool, _ outcome: Trial.Outcome) {
      self.factor = factor
      self.honoursWindow = honoursWindow
      self.outcome = outcome
      let made = outcome.tallies.map(\.made)
      self.leastServed =
        Double(made.min() ?? 0) * Double(made.count) / Double(max(1, made.reduce(0, +)))
    }

    mutating func add(_ other: Row) {
      self.outcome.add(other.outcome)
      self.leastServed = min(self.leastServed, other.leastServed)
    }
  }

  /// The machine is not as fast at one time as at another, so each load is measured this often, in turns,
  /// each time for a part of the time.
  private static let rounds = 3

  func run(_ settings: Settings) async throws -> Section {
    let factors =
      settings.isQuick ? [0.5, 1, 4, 10] : [0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 10]
    let (capacities, rows) = try await ServerProcess.run(settings.server) { server in
      var capacities: [Double] = []
      var rows: [Row] = []
      for round in 0 ..< Self.rounds {
        let capacity = try await Trial.capacity(
          Self.load(0), sessions: Self.sessions, settings, server)
        capacities.append(capacity)
        for (index, kind) in Self.kinds(factors).enumerated() {
          var load = Self.load(kind.factor * capacity)
          load.honoursWindow = kind.honoursWindow
          let trial = Trial(
            loads: Array(repeating: load, count: Self.sessions), warmUp: settings.warmUp,
            duration: settings.duration / Self.rounds)
          let outcome = try await trial.run(against: server)
          Progress.note(
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

  /// One session's part of so many frames a second.
  static func load(_ framesPerSecond: Double) -> Load {
    Load(
      pipeline: .dear, picture: .small,
      pace: .openLoop(framesPerSecond: framesPerSecond / Double(Self.sessions)),
      budget: Self.budget)
  }

  private static func text(_ capacities: [Double], _ settings: Settings) -> String {
    """
    \(Self.sessions) sessions send \(Picture.small.width)x\(Picture.small.height) frames through \
    `\(Pipeline.dear.name)`: small frames and much work, so that what is short is processors and not \
    the wire. Capacity is what comes out when each session sends as soon as its window has room, and nothing is dropped: \
    **\(capacities.map { $0.text(0) }.joined(separator: ", ")) frames a second** in the \(Self.rounds) \
    rounds in which all loads are measured, one after the other, so that what the machine does \
    beside it falls on all alike; each round gives a load a \(Self.rounds)rd of the \
    \(settings.duration / .seconds(1)) s, after a warm-up. Sessions send open loop, from .5 to 10 times as \
    much, with a budget of \(Self.budget / .milliseconds(1)) ms a frame, all against one server process. \
    "Honoured" senders wait for the server's credits, newest wins, as the client library does; "ignored" \
    ones send whatever the transport takes. "fps a core" is goodput by the processor time that the server \
    got: it tells work that was wasted from processors that others took. "Least served" is the session \
    that got fewest frames, by what a session got on average, in the round in which that is least.
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
        row.outcome.goodput.text(0), Self.partOfPeak(row, rows).percent,
        (row.outcome.goodput / row.outcome.server.processors).text(1),
        total.ages.percentile(50).milliseconds, total.ages.percentile(99).milliseconds,
        row.leastServed.percent, total.droppedPart.percent, total.reasons,
        row.outcome.server.processors.percent(0),
        row.outcome.sender.processors.percent(0), "\(row.outcome.server.peakMemory >> 20)",
      ])
    }
    return table
  }

  /// Of the most that came out at any load, with senders of the same kind.
  private static func partOfPeak(_ row: Row, _ rows: [Row]) -> Double {
    let peak = rows.filter { $0.honoursWindow == row.honoursWindow }.map(\.outcome.goodput).max()
    return row.outcome.goodput / (peak ?? 1)
  }

  private static func checks(_ rows: [Row]) -> [Check] {
    var checks: [Check] = [.accounting(rows.map(\.outcome), "overload")]
    for row in rows where [4, 10].contains(row.factor) {
      let name =
        "\(row.factor.text(0))x capacity, window \(row.honoursWindow ? "honoured" : "ignored")"
      let part = Self.partOfPeak(row, rows)
      checks.append(
        Check(
          "goodput at \(name)", measured: "\(part.percent) of the peak", limit: ">= 90 %",
          holds: part >= 0.9))
      let least = row.leastServed
      checks.append(
        Check(
          "the session that got fewest frames, at \(name)",
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
    // From capacity on, buffers are as many as they will be.
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
      title: "Frames made, times capacity", x: x,
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
      title: "Age of what is delivered, ms", x: x,
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
