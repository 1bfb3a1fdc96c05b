import BenchmarkSupport

/// Increasing numbers of sessions at 30 frames a second: goodput, age of outputs, and cost.
struct SessionsTable: Measurement {
  private static let rate = 30.0

  private struct Row {
    var picture: Picture
    var pipeline: Pipeline
    var sessions: Int
    var outcome: Trial.Outcome
  }

  func run(_ settings: Settings) async throws -> Section {
    let counts = settings.isQuick ? [1, 8, 32] : [1, 2, 4, 8, 16, 32]
    let pictures = settings.isQuick ? [Picture.hd720] : [.hd720, .hd1080]
    var rows: [Row] = []
    for picture in pictures {
      for pipeline in [Pipeline.passThrough, .vintage, .blur] {
        for sessions in counts {
          let load = Load(
            pipeline: pipeline, picture: picture, pace: .openLoop(framesPerSecond: Self.rate))
          let trial = Trial(
            loads: Array(repeating: load, count: sessions), warmUp: settings.warmUp,
            duration: settings.duration)
          let outcome = try await ServerProcess.run(settings) {
            try await trial.run(against: $0)
          }
          rows.append(
            Row(picture: picture, pipeline: pipeline, sessions: sessions, outcome: outcome))
          Progress.report("\(picture) \(pipeline.name), \(sessions) sessions", outcome)
        }
      }
    }
    return Section(
      title: "Sessions", text: Self.text, table: Self.table(rows),
      plots: ["sessions": Self.plot(rows, pictures, counts)],
      checks: [
        .accounting(rows.map(\.outcome), "sessions")
      ])
  }

  private static let text = """
    Each session sends \(Int(rate)) I420 frames a second, open loop, over a separate TCP connection, \
    newest wins, no budget, and gets its pixels back. The age of an output is the time from when the \
    sender had the frame until its outcome arrived. "not sent" are frames that waited at the sender \
    for the server's credit until a newer one replaced them. CPU is the load of the server's process \
    (100 % is one core); the sender's is next to it, because both share the machine.
    """

  private static func table(_ rows: [Row]) -> Table {
    var table = Table([
      "frames", "pipeline", "sessions", "fps out", "p50 ms", "p95 ms", "p99 ms", "drops",
      "by reason",
      "CPU", "sender's", "RSS MiB",
    ])
    for row in rows {
      let total = row.outcome.total
      table.add([
        "\(row.picture)", row.pipeline.name, "\(row.sessions)", row.outcome.goodput.text(0),
        total.ages.percentile(50).milliseconds, total.ages.percentile(95).milliseconds,
        total.ages.percentile(99).milliseconds, total.droppedFraction.percent, total.reasons,
        row.outcome.server.processors.percent(0), row.outcome.sender.processors.percent(0),
        "\(row.outcome.server.peakMemory >> 20)",
      ])
    }
    return table
  }

  private static func plot(_ rows: [Row], _ pictures: [Picture], _ counts: [Int]) -> Plot {
    let panels = pictures.map { picture in
      let pipelines = [Pipeline.passThrough, .vintage, .blur]
      let series = pipelines.enumerated().flatMap { color, pipeline in
        let rows = rows.filter {
          "\($0.picture)" == "\(picture)" && $0.pipeline.name == pipeline.name
        }
        return [(50.0, false), (99.0, true)].map { percent, isDashed in
          Plot.Series(
            name: isDashed ? nil : pipeline.name, color: color, isDashed: isDashed,
            points: rows.map {
              (Double($0.sessions), $0.outcome.total.ages.percentile(percent) / .milliseconds(1))
            })
        }
      }
      return Plot.Panel(
        title: "\(picture): age of outputs, ms",
        x: Plot.Axis(
          label: "sessions", range: 1 ... 32, ticks: counts.map(Double.init), isLog: true),
        y: Plot.Axis(
          range: 1 ... 1000, ticks: [1, 3, 10, 30, 100, 300, 1000],
          isLog: true),
        series: series,
        references: [.init(name: "one frame at 30 fps", value: 1000 / 30)])
    }
    return Plot(
      title: "Latency under load", subtitle: "30 fps a session; solid: p50, dashed: p99",
      panels: panels)
  }
}
